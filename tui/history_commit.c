/* How an attempt becomes a commit. Blobs and trees are written from bytes, never from the work
 * folder through git's filters; the order is objects, branch, index, so that whatever breaks in
 * between leaves a repository that git can read. Objects are not synced to disk one by one: seven
 * fsyncs cost more than the 20 ms an attempt may take, and what a power cut damages is found and
 * healed or set aside. */
#include "history_core.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <errno.h>
#include <git2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The present HEAD. commit and tree are NULL on an unborn branch. */
struct head {
    char *branch; /* full name; NULL when detached */
    git_commit *commit;
    git_tree *tree;
};

static void head_free(struct head *head)
{
    git_tree_free(head->tree);
    git_commit_free(head->commit);
    free(head->branch);
    *head = (struct head){0};
}

/* Moves a damaged loose object out of the way, so that the same bytes can be written again: the
 * object database takes an existing file for a good one. */
static void drop_loose(const struct history *history, const git_oid *id)
{
    char *path = history_loose_path(history, id);
    unlink(path);
    free(path);
}

static bool is_whole(git_odb *odb, const git_oid *id)
{
    git_odb_object *object = NULL;
    int code = git_odb_read(&object, odb, id);
    git_odb_object_free(object);
    return code == 0;
}

static bool put_blob(struct history *history, git_odb *odb, git_oid *id, const struct buf *bytes,
                     struct err *err)
{
    if (git_odb_hash(id, buf_str(bytes), bytes->len, GIT_OBJECT_BLOB) == 0 &&
        git_odb_exists(odb, id)) {
        if (is_whole(odb, id))
            return true;
        drop_loose(history, id);
    }
    return git_odb_write(id, odb, buf_str(bytes), bytes->len, GIT_OBJECT_BLOB) == 0 ||
           history_explain(err, _("cannot store the attempt"));
}

static bool put_tree(struct history *history, git_odb *odb, git_oid *id, git_treebuilder *builder,
                     struct err *err)
{
    int code = git_treebuilder_write(id, builder);
    if (code == 0 && !is_whole(odb, id)) {
        drop_loose(history, id);
        code = git_treebuilder_write(id, builder);
    }
    return code == 0 || history_explain(err, _("cannot store the attempt"));
}

/* The index knows every path and id of the tree it was written with, so a damaged tree can often be
 * built again from it. */
static bool heal_tree(struct history *history, const git_oid *id, git_tree **out)
{
    git_index *index = NULL;
    git_oid again;
    drop_loose(history, id);
    bool ok = git_repository_index(&index, history->repo) == 0 &&
              git_index_read(index, true) == 0 && git_index_write_tree(&again, index) == 0 &&
              git_oid_equal(&again, id) && git_tree_lookup(out, history->repo, id) == 0;
    git_index_free(index);
    return ok;
}

/* False with *damaged when an object of HEAD can't be read; false without when it is something
 * else. */
static bool head_read_commit(struct history *history, struct head *head, const git_oid *id,
                             bool *damaged, struct err *notice, struct err *err)
{
    char hex[GIT_OID_HEXSZ + 1];
    git_oid_tostr(hex, sizeof hex, id);
    if (git_commit_lookup(&head->commit, history->repo, id) != 0) {
        *damaged = history_is_damaged(history, id, err);
        return *damaged ? err_set(err, _("the commit %.10s is damaged"), hex) : false;
    }
    if (git_commit_tree(&head->tree, head->commit) == 0)
        return true;
    const git_oid *tree = git_commit_tree_id(head->commit);
    git_oid_tostr(hex, sizeof hex, tree);
    if (!history_is_damaged(history, tree, err))
        return false;
    if (heal_tree(history, tree, &head->tree)) {
        history_tell(notice, _("a damaged object of the history (%.10s) was repaired."), hex);
        return true;
    }
    *damaged = true;
    return err_set(err, _("the folder list %.10s is damaged"), hex);
}

static bool head_read(struct history *history, struct head *out, bool *damaged, struct err *notice,
                      struct err *err)
{
    git_reference *head = NULL, *branch = NULL;
    bool ok = git_reference_lookup(&head, history->repo, "HEAD") == 0 ||
              history_explain(err, _("cannot read HEAD"));
    if (ok && git_reference_type(head) == GIT_REFERENCE_DIRECT) {
        ok = head_read_commit(history, out, git_reference_target(head), damaged, notice, err);
    } else if (ok) {
        out->branch = mem_strdup(git_reference_symbolic_target(head));
        int code = git_reference_lookup(&branch, history->repo, out->branch);
        if (code == 0)
            ok = head_read_commit(history, out, git_reference_target(branch), damaged, notice, err);
        else if (code != GIT_ENOTFOUND) {
            *damaged = true; /* an empty or garbled file under refs/heads */
            ok = history_explain(err, _("cannot read the branch"));
        }
    }
    git_reference_free(branch);
    git_reference_free(head);
    return ok;
}

/* ---- trees */

static git_filemode_t kernel_mode(const struct history *history, const char *lab)
{
    struct stat info;
    char *path = mem_printf("%s/%s/kernel.cu", history->work, lab);
    bool executable = stat(path, &info) == 0 && (info.st_mode & S_IXUSR);
    free(path);
    return executable ? GIT_FILEMODE_BLOB_EXECUTABLE : GIT_FILEMODE_BLOB;
}

static bool build_lab_tree(struct history *history, git_odb *odb, const git_tree *root,
                           const struct history_change *change, git_oid *out, struct err *err)
{
    git_tree *old = NULL;
    const git_tree_entry *entry = root ? git_tree_entry_byname(root, change->lab) : NULL;
    if (entry && git_tree_entry_type(entry) == GIT_OBJECT_TREE &&
        git_tree_lookup(&old, history->repo, git_tree_entry_id(entry)) != 0)
        old = NULL; /* damaged: its four files are rewritten below */
    git_treebuilder *builder = NULL;
    bool ok = git_treebuilder_new(&builder, history->repo, old) == 0 ||
              history_explain(err, _("cannot store the attempt"));
    for (int i = 0; ok && i < HISTORY_FILES; i++) {
        const char *name = history_file_name((enum history_file)i);
        const struct buf *bytes = change->files[i].bytes;
        git_oid id;
        if (change->files[i].keep)
            continue;
        if (!bytes) {
            if (git_treebuilder_get(builder, name))
                git_treebuilder_remove(builder, name);
            continue;
        }
        ok = put_blob(history, odb, &id, bytes, err);
        git_filemode_t mode =
            i == HISTORY_KERNEL ? kernel_mode(history, change->lab) : GIT_FILEMODE_BLOB;
        if (ok && git_treebuilder_insert(NULL, builder, name, &id, mode) != 0)
            ok = history_explain(err, _("cannot store the attempt"));
    }
    ok = ok && put_tree(history, odb, out, builder, err);
    git_treebuilder_free(builder);
    git_tree_free(old);
    return ok;
}

static bool build_root_tree(struct history *history, const git_tree *root,
                            const struct history_change *change, git_oid *out, struct err *err)
{
    git_odb *odb = NULL;
    git_treebuilder *builder = NULL;
    git_oid lab;
    bool ok = git_repository_odb(&odb, history->repo) == 0 ||
              history_explain(err, _("cannot open the history"));
    ok = ok && build_lab_tree(history, odb, root, change, &lab, err);
    if (ok && (git_treebuilder_new(&builder, history->repo, root) != 0 ||
               git_treebuilder_insert(NULL, builder, change->lab, &lab, GIT_FILEMODE_TREE) != 0))
        ok = history_explain(err, _("cannot store the attempt"));
    ok = ok && put_tree(history, odb, out, builder, err);
    git_treebuilder_free(builder);
    git_odb_free(odb);
    return ok;
}

/* ---- index */

static void fill_stat(git_index_entry *entry, const struct stat *info)
{
    entry->ctime = (git_index_time){(int32_t)info->st_ctim.tv_sec, (uint32_t)info->st_ctim.tv_nsec};
    entry->mtime = (git_index_time){(int32_t)info->st_mtim.tv_sec, (uint32_t)info->st_mtim.tv_nsec};
    entry->dev = (uint32_t)info->st_dev;
    entry->ino = (uint32_t)info->st_ino;
    entry->uid = info->st_uid;
    entry->gid = info->st_gid;
    entry->file_size = (uint32_t)info->st_size;
}

/* The entry carries the file's times only when the file holds these very bytes; otherwise git has
 * to look, and finds it modified. */
static bool stage_file(struct history *history, git_index *index, const char *lab, int file,
                       const struct buf *bytes)
{
    const char *name = history_file_name((enum history_file)file);
    char *path = mem_printf("%s/%s", lab, name), *full = path_join(history->work, path);
    git_index_entry entry = {.path = path,
                             .mode = file == HISTORY_KERNEL ? (uint32_t)kernel_mode(history, lab)
                                                            : (uint32_t)GIT_FILEMODE_BLOB};
    struct stat info;
    struct buf disk = {0};
    bool ok = git_odb_hash(&entry.id, buf_str(bytes), bytes->len, GIT_OBJECT_BLOB) == 0;
    if (lstat(full, &info) == 0 && S_ISREG(info.st_mode) &&
        file_read(&disk, full, HISTORY_FILE_MOST, NULL) && disk.len == bytes->len &&
        memcmp(buf_str(&disk), buf_str(bytes), bytes->len) == 0)
        fill_stat(&entry, &info);
    ok = ok && git_index_add(index, &entry) == 0;
    buf_free(&disk);
    free(full);
    free(path);
    return ok;
}

static bool update_index(struct history *history, const struct history_change *change,
                         struct err *err)
{
    git_index *index = NULL;
    bool ok = git_repository_index(&index, history->repo) == 0;
    if (ok && git_index_read(index, true) != 0) {
        /* A damaged index is only a cache: begin it again from HEAD. */
        char *path = path_join(history->git_dir, "index");
        git_object *tree = NULL;
        unlink(path);
        free(path);
        git_index_clear(index);
        ok = git_revparse_single(&tree, history->repo, "HEAD^{tree}") == 0 &&
             git_index_read_tree(index, (git_tree *)tree) == 0;
        git_object_free(tree);
    }
    for (int i = 0; ok && i < HISTORY_FILES; i++) {
        if (change->files[i].keep)
            continue;
        if (change->files[i].bytes) {
            ok = stage_file(history, index, change->lab, i, change->files[i].bytes);
        } else {
            char *path = mem_printf("%s/%s", change->lab, history_file_name((enum history_file)i));
            git_index_remove_bypath(index, path);
            free(path);
        }
    }
    ok = ok && git_index_write(index) == 0;
    if (!ok)
        history_explain(err, _("recorded, but `git status` will look odd until the next attempt"));
    git_index_free(index);
    return ok;
}

/* ---- the commit */

static int move_head(struct history *history, const struct head *head, const git_oid *id,
                     const char *subject)
{
    git_reference *moved = NULL;
    const git_oid *old = head->commit ? git_commit_id(head->commit) : NULL;
    char *log = mem_printf("stride: %s", subject);
    int code = git_reference_create_matching(
        &moved, history->repo, head->branch ? head->branch : "HEAD", id, old != NULL, old, log);
    git_reference_free(moved);
    free(log);
    return code;
}

/* A commit on a detached HEAD is found again after the next checkout by this name. */
static bool name_detached(struct history *history, const git_oid *id, const char *subject,
                          struct err *notice, struct err *err)
{
    char hex[GIT_OID_HEXSZ + 1];
    git_oid_tostr(hex, sizeof hex, id);
    char *name = mem_printf("refs/stride/%.12s", hex);
    git_reference *made = NULL;
    int code = git_reference_create(&made, history->repo, name, id, true, subject);
    git_reference_free(made);
    if (code == 0)
        history_tell(
            notice,
            _("no branch is checked out (detached HEAD), so this commit is also kept as %s; "
              "`git checkout -` leads back to your branch."),
            name);
    free(name);
    return code == 0 || history_explain(err, _("cannot name the attempt"));
}

static bool create_commit(struct history *history, const struct head *head, const git_oid *tree_id,
                          const struct history_change *change, git_oid *id, struct err *notice,
                          struct err *err)
{
    git_signature *author = NULL, *committer = NULL;
    git_tree *tree = NULL;
    char *message =
        mem_printf("%s\n%s%s", change->subject, change->body && *change->body ? "\n" : "",
                   change->body ? change->body : "");
    const git_commit *parents[1] = {head->commit};
    bool ok = history_signature(history, &committer, 0, notice, err) &&
              history_signature(history, &author, change->author_time_s, notice, err);
    if (ok && (git_tree_lookup(&tree, history->repo, tree_id) != 0 ||
               git_commit_create(id, history->repo, NULL, author, committer, NULL, message, tree,
                                 head->commit ? 1 : 0, parents) != 0))
        ok = history_explain(err, _("cannot store the attempt"));
    git_tree_free(tree);
    git_signature_free(author);
    git_signature_free(committer);
    free(message);
    return ok;
}

static bool apply_once(struct history *history, const struct history_change *change, git_oid *id,
                       int *code, bool *damaged, struct err *notice, struct err *err)
{
    struct head head = {0};
    git_oid tree;
    *code = -1;
    bool ok = head_read(history, &head, damaged, notice, err);
    if (ok && !history_clear_locks(history->git_dir, history->work, head.branch, notice, err)) {
        *code = GIT_ELOCKED;
        ok = false;
    }
    ok = ok && build_root_tree(history, head.tree, change, &tree, err) &&
         create_commit(history, &head, &tree, change, id, notice, err);
    if (ok) {
        *code = move_head(history, &head, id, change->subject);
        ok = *code == 0 || history_explain(err, _("cannot record the attempt"));
    }
    if (ok && !head.branch)
        ok = name_detached(history, id, change->subject, notice, err);
    head_free(&head);
    return ok;
}

bool history_apply(struct history *history, const struct history_change *change, char id[41],
                   bool *busy, struct err *notice, struct err *err)
{
    git_oid oid;
    int code = -1;
    bool ok = false, damaged = false;
    struct err local = {0};
    err = err ? err : &local;
    /* Twice more when HEAD moved meanwhile, and once when a fresh history had to begin. */
    for (int round = 0; round < 4 && !ok; round++) {
        damaged = false;
        ok = apply_once(history, change, &oid, &code, &damaged, notice, err);
        if (ok || (code != GIT_EMODIFIED && !damaged))
            break;
        if (damaged) {
            struct err why = *err;
            if (!history_begin_fresh(history, why.text, notice, err))
                break;
        }
    }
    *busy = code == GIT_ELOCKED || code == GIT_EMODIFIED;
    if (!ok)
        return false;
    if (id)
        git_oid_tostr(id, 41, &oid);
    struct err index_err = {0};
    if (!update_index(history, change, &index_err))
        history_tell(notice, "%s.", index_err.text);
    return true;
}
