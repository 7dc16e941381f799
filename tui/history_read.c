/* Looking at the history: a walk of our own over commits, newest first, that stops gracefully where
 * an object is damaged or a clone was shallow, and that reads no more of a long history than is
 * asked. */
#include "history_core.h"

#include "harness/base/clean.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"
#include "harness/base/verdict.h"

#include <git2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
    git_oid id;
    git_time_t time_s;
};

struct walk {
    git_repository *repo;
    struct waiting *heap; /* a binary heap, latest time on top */
    size_t count, capacity;
    git_oid *seen; /* open addressing; a zero id is an empty slot */
    size_t seen_count, seen_capacity;
    struct err damage; /* the first commit that could not be read */
};

static bool mark_seen(struct walk *walk, const git_oid *id);

static void grow_seen(struct walk *walk)
{
    struct walk bigger = {.seen_capacity = walk->seen_capacity ? walk->seen_capacity * 2 : 1024};
    bigger.seen = mem_zero(bigger.seen_capacity, sizeof *bigger.seen);
    for (size_t i = 0; i < walk->seen_capacity; i++)
        if (!git_oid_is_zero(&walk->seen[i]))
            mark_seen(&bigger, &walk->seen[i]);
    free(walk->seen);
    walk->seen = bigger.seen;
    walk->seen_capacity = bigger.seen_capacity;
}

/* False when it was there already. */
static bool mark_seen(struct walk *walk, const git_oid *id)
{
    if ((walk->seen_count + 1) * 2 > walk->seen_capacity)
        grow_seen(walk);
    size_t at;
    memcpy(&at, id->id, sizeof at);
    for (at &= walk->seen_capacity - 1; !git_oid_is_zero(&walk->seen[at]);
         at = (at + 1) & (walk->seen_capacity - 1))
        if (git_oid_equal(&walk->seen[at], id))
            return false;
    walk->seen[at] = *id;
    walk->seen_count++;
    return true;
}

static void walk_push(struct walk *walk, const git_oid *id)
{
    git_commit *commit = NULL;
    if (!mark_seen(walk, id))
        return;
    if (git_commit_lookup(&commit, walk->repo, id) != 0) {
        char hex[GIT_OID_HEXSZ + 1];
        git_oid_tostr(hex, sizeof hex, id);
        if (!*walk->damage.text)
            err_set(&walk->damage,
                    _("the history is damaged at commit %.10s: what is older is not shown"), hex);
        return;
    }
    if (walk->count == walk->capacity) {
        walk->capacity = walk->capacity ? walk->capacity * 2 : 32;
        walk->heap = mem_grow(walk->heap, walk->capacity, sizeof *walk->heap);
    }
    struct waiting fresh = {*id, git_commit_time(commit)};
    git_commit_free(commit);
    size_t at = walk->count++;
    while (at && walk->heap[(at - 1) / 2].time_s < fresh.time_s) {
        walk->heap[at] = walk->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    walk->heap[at] = fresh;
}

static struct waiting walk_pop(struct walk *walk)
{
    struct waiting top = walk->heap[0], last = walk->heap[--walk->count];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < walk->count && walk->heap[child + 1].time_s > walk->heap[child].time_s)
            child++;
        if (child >= walk->count || walk->heap[child].time_s <= last.time_s)
            break;
        walk->heap[at] = walk->heap[child];
        at = child;
    }
    walk->heap[at] = last;
    return top;
}

/* Where a shallow clone ends is no damage. */
static void mark_shallow(struct walk *walk, const char *git_dir)
{
    char *path = path_join(git_dir, "shallow");
    struct buf text = {0};
    if (file_exists(path) && file_read(&text, path, 1 << 20, NULL) && text.len)
        for (char *line = strtok(text.data, "\n"); line; line = strtok(NULL, "\n")) {
            git_oid id;
            git_commit *commit = NULL;
            if (git_oid_fromstr(&id, line) != 0 || git_commit_lookup(&commit, walk->repo, &id) != 0)
                continue;
            for (unsigned i = 0; i < git_commit_parentcount(commit); i++)
                mark_seen(walk, git_commit_parent_id(commit, i));
            git_commit_free(commit);
        }
    buf_free(&text);
    free(path);
}

static void push_reference(struct walk *walk, git_reference *reference)
{
    git_object *object = NULL;
    git_reference *direct = NULL;
    if (git_reference_resolve(&direct, reference) == 0 && git_reference_target(direct)) {
        if (git_reference_peel(&object, direct, GIT_OBJECT_COMMIT) == 0)
            walk_push(walk, git_object_id(object));
        else
            walk_push(walk, git_reference_target(direct)); /* damaged: says so */
    }
    git_object_free(object);
    git_reference_free(direct);
}

static bool walk_begin(struct walk *walk, struct history *history, struct err *err)
{
    *walk = (struct walk){.repo = history->repo};
    mark_shallow(walk, history->git_dir);
    git_reference *head = NULL;
    if (git_reference_lookup(&head, history->repo, "HEAD") != 0)
        return history_explain(err, _("cannot read HEAD"));
    push_reference(walk, head);
    git_reference_free(head);
    static const char *const globs[] = {"refs/heads/*", "refs/stride/*"};
    for (int i = 0; i < 2; i++) {
        git_reference_iterator *iterator = NULL;
        git_reference *reference = NULL;
        if (git_reference_iterator_glob_new(&iterator, history->repo, globs[i]) != 0)
            continue;
        while (git_reference_next(&reference, iterator) == 0) {
            push_reference(walk, reference);
            git_reference_free(reference);
        }
        git_reference_iterator_free(iterator);
    }
    return true;
}

static void walk_end(struct walk *walk)
{
    free(walk->heap);
    free(walk->seen);
}

/* The next commit, whose parents are pushed; NULL at the end. */
static git_commit *walk_next(struct walk *walk)
{
    git_commit *commit = NULL;
    while (!commit && walk->count) {
        struct waiting next = walk_pop(walk);
        if (git_commit_lookup(&commit, walk->repo, &next.id) != 0)
            commit = NULL;
    }
    for (unsigned i = 0; commit && i < git_commit_parentcount(commit); i++)
        walk_push(walk, git_commit_parent_id(commit, i));
    return commit;
}

/* ---- what a commit is to a lab */

int history_subject_number(const char *subject, const char *lab)
{
    size_t len = strlen(lab);
    int number = 0, used = 0;
    if (strncmp(subject, lab, len) == 0 && sscanf(subject + len, " #%9d:%n", &number, &used) == 1 &&
        used)
        return number > 0 ? number : 0;
    return 0;
}

/* Whether it is an attempt of some lab: "slug #N:". */
static bool is_attempt_of_any(const char *subject)
{
    size_t len = strspn(subject, "abcdefghijklmnopqrstuvwxyz0123456789-_");
    int number = 0, used = 0;
    return len && sscanf(subject + len, " #%9d:%n", &number, &used) == 1 && used;
}

static const git_oid *lab_id_in(git_tree **tree, const git_commit *commit, const char *lab)
{
    *tree = NULL;
    const git_tree_entry *entry =
        commit && git_commit_tree(tree, commit) == 0 ? git_tree_entry_byname(*tree, lab) : NULL;
    return entry ? git_tree_entry_id(entry) : NULL;
}

static bool touches(const git_commit *commit, const char *lab)
{
    git_commit *parent = NULL;
    git_tree *tree, *parent_tree;
    if (git_commit_parentcount(commit) && git_commit_parent(&parent, commit, 0) != 0)
        parent = NULL;
    const git_oid *now = lab_id_in(&tree, commit, lab),
                  *before = lab_id_in(&parent_tree, parent, lab);
    bool changed = now && (!before || !git_oid_equal(now, before));
    git_tree_free(tree);
    git_tree_free(parent_tree);
    git_commit_free(parent);
    return changed;
}

static bool concerns(const git_commit *commit, const char *lab)
{
    const char *subject = git_commit_summary((git_commit *)commit);
    if (!subject)
        return false;
    if (history_subject_number(subject, lab))
        return true;
    return !is_attempt_of_any(subject) && touches(commit, lab);
}

static void copy_clean(char *out, size_t size, const char *text, size_t len)
{
    struct buf clean = {0};
    clean_line(&clean, text, len);
    size_t fit = clean.len < size ? clean.len : utf8_whole(buf_str(&clean), size - 1);
    memcpy(out, buf_str(&clean), fit);
    out[fit] = '\0';
    buf_free(&clean);
}

/* "cp-async #4: pass, 1.41x" and "cp-async: restore #3". */
static void read_subject(struct history_entry *entry, const char *subject, const char *lab)
{
    entry->attempt = history_subject_number(subject, lab);
    const char *rest = strchr(subject, ':');
    size_t len = strlen(lab);
    if (entry->attempt && rest) {
        rest += strspn(rest, ": ");
        size_t word = strcspn(rest, ", ");
        enum verdict known;
        char name[sizeof entry->verdict];
        snprintf(name, sizeof name, "%.*s", (int)word, rest);
        if (verdict_parse(&known, name))
            memcpy(entry->verdict, name, sizeof name);
        rest += word + strspn(rest + word, ", ");
        if (strspn(rest, "0123456789.") && rest[strspn(rest, "0123456789.")] == 'x')
            snprintf(entry->speedup, sizeof entry->speedup, "%.*s",
                     (int)strspn(rest, "0123456789.") + 1, rest);
    } else if (strncmp(subject, lab, len) == 0 && strncmp(subject + len, ": restore #", 11) == 0) {
        entry->attempt = atoi(subject + len + 11);
        snprintf(entry->verdict, sizeof entry->verdict, "restored");
    }
}

static void fill_entry(struct history_entry *entry, git_commit *commit, const char *lab)
{
    *entry = (struct history_entry){0};
    const git_signature *author = git_commit_author(commit);
    const char *subject = git_commit_summary(commit);
    git_oid_tostr(entry->id, sizeof entry->id, git_commit_id(commit));
    entry->time_s = author ? author->when.time : git_commit_time(commit);
    entry->offset_minutes = author ? author->when.offset : git_commit_time_offset(commit);
    if (subject) {
        copy_clean(entry->subject, sizeof entry->subject, subject, strlen(subject));
        read_subject(entry, entry->subject, lab);
    }
}

bool history_list(struct history *history, const char *lab, size_t skip, size_t most,
                  struct history_entry *entries, size_t *count, bool *more, struct err *err)
{
    struct walk walk;
    *count = 0;
    *more = false;
    if (!walk_begin(&walk, history, err)) {
        walk_end(&walk);
        return false;
    }
    for (git_commit *commit; !*more && (commit = walk_next(&walk)); git_commit_free(commit)) {
        if (!concerns(commit, lab))
            continue;
        if (skip)
            skip--;
        else if (*count == most)
            *more = true;
        else
            fill_entry(&entries[(*count)++], commit, lab);
    }
    if (*walk.damage.text && !*more)
        err_set(err, "%s", walk.damage.text);
    walk_end(&walk);
    return true;
}

/* The latest attempts decide, not all: a restored record or an amended message may carry an old
 * number, but not twenty in a row. */
bool history_next_attempt(struct history *history, const char *lab, int *number, struct err *err)
{
    struct walk walk;
    int highest = 0, found = 0;
    bool ok = walk_begin(&walk, history, err);
    for (git_commit *commit; ok && found < 20 && (commit = walk_next(&walk));
         git_commit_free(commit)) {
        const char *subject = git_commit_summary(commit);
        int one = subject ? history_subject_number(subject, lab) : 0;
        found += one > 0;
        if (one > highest)
            highest = one;
    }
    walk_end(&walk);
    char **names = NULL;
    int count = ok ? history_parked_list(history->parked, &names) : 0;
    for (int i = 0; i < count; i++) {
        struct history_parked parked;
        if (history_parked_load(&parked, history->parked, names[i], NULL)) {
            int one = history_subject_number(parked.subject, lab);
            highest = one > highest ? one : highest;
        }
        history_parked_free(&parked);
        free(names[i]);
    }
    free(names);
    *number = highest + 1;
    return ok;
}

static bool is_hex(const char *text)
{
    size_t len = strspn(text, "0123456789abcdef");
    return len >= 4 && len <= GIT_OID_HEXSZ && text[len] == '\0';
}

bool history_find(struct history *history, const char *lab, const char *name,
                  struct history_entry *out, struct err *err)
{
    struct walk walk;
    const char *digits = *name == '#' ? name + 1 : name;
    char *end = NULL;
    long number = strtol(digits, &end, 10);
    bool by_number = *digits && *end == '\0' && number > 0 && strlen(digits) < 8;
    int nth = strcmp(name, "last") == 0 ? 1 : strcmp(name, "previous") == 0 ? 2 : 0;
    bool by_id = !nth && is_hex(name);
    bool found = false;
    if (!by_number && !nth && !by_id)
        return err_set(
            err,
            _("%s names no attempt: give a number (4 or #4), \"last\", \"previous\" or the "
              "beginning of a commit's id"),
            name);
    bool ok = walk_begin(&walk, history, err);
    for (git_commit *commit; ok && !found && (commit = walk_next(&walk)); git_commit_free(commit)) {
        if (!concerns(commit, lab))
            continue;
        fill_entry(out, commit, lab);
        bool attempt = out->attempt && strcmp(out->verdict, "restored") != 0;
        found = (by_number && attempt && out->attempt == number) ||
                (nth && attempt && --nth == 0) ||
                (by_id && strncmp(out->id, name, strlen(name)) == 0);
    }
    if (ok && !found)
        err_set(err, *walk.damage.text ? _("%s has no attempt %s (%s)") : _("%s has no attempt %s"),
                lab, name, walk.damage.text);
    walk_end(&walk);
    return found;
}

/* ---- contents */

static bool find_commit(struct history *history, const char *id, git_commit **out, struct err *err)
{
    git_oid oid;
    int code = strcmp(id, "HEAD") == 0 ? git_reference_name_to_id(&oid, history->repo, "HEAD")
                                       : git_oid_fromstr(&oid, id);
    if (code == 0)
        code = git_commit_lookup(out, history->repo, &oid);
    return code == 0 || history_explain(err, _("cannot read the attempt"));
}

bool history_read(struct history *history, const char *lab, const char *id, enum history_file file,
                  struct buf *out, struct err *err)
{
    git_commit *commit = NULL;
    git_tree *tree = NULL;
    git_tree_entry *entry = NULL;
    git_blob *blob = NULL;
    char *path = mem_printf("%s/%s", lab, history_file_name(file));
    bool ok = find_commit(history, id, &commit, err);
    if (ok && git_commit_tree(&tree, commit) != 0)
        ok = history_explain(err, _("this attempt is damaged"));
    int code = ok ? git_tree_entry_bypath(&entry, tree, path) : 0;
    if (ok && code == GIT_ENOTFOUND)
        ok = err_set(err, _("this attempt has no %s"), history_file_name(file));
    else if (ok && code != 0)
        ok = history_explain(err, _("this attempt is damaged"));
    if (ok && (git_tree_entry_type(entry) != GIT_OBJECT_BLOB ||
               git_blob_lookup(&blob, history->repo, git_tree_entry_id(entry)) != 0))
        ok = history_explain(err, _("this attempt is damaged"));
    if (ok && git_blob_rawsize(blob) > HISTORY_FILE_MOST)
        ok = err_set(err, _("%s of this attempt is too large to show"), history_file_name(file));
    if (ok)
        buf_add(out, git_blob_rawcontent(blob), (size_t)git_blob_rawsize(blob));
    git_blob_free(blob);
    git_tree_entry_free(entry);
    git_tree_free(tree);
    git_commit_free(commit);
    free(path);
    return ok;
}

bool history_diff(struct history *history, const char *lab, const char *a, const char *b,
                  enum history_file file, struct buf *out, struct err *err)
{
    struct buf left = {0}, right = {0};
    char *path = mem_printf("%s/%s", lab, history_file_name(file));
    bool ok = history_read(history, lab, a, file, &left, err);
    if (ok && b) {
        ok = history_read(history, lab, b, file, &right, err);
    } else if (ok) {
        char *full = path_join(history->work, path);
        ok = file_read(&right, full, HISTORY_FILE_MOST, err);
        free(full);
    }
    git_patch *patch = NULL;
    git_buf text = {0};
    git_diff_options options = {.version = GIT_DIFF_OPTIONS_VERSION,
                                .flags = GIT_DIFF_FORCE_TEXT,
                                .ignore_submodules = GIT_SUBMODULE_IGNORE_UNSPECIFIED,
                                .context_lines = 3};
    if (ok && (git_patch_from_buffers(&patch, buf_str(&left), left.len, path, buf_str(&right),
                                      right.len, path, &options) != 0 ||
               git_patch_to_buf(&text, patch) != 0))
        ok = history_explain(err, _("cannot compare"));
    if (ok && text.size &&
        !(left.len == right.len && memcmp(buf_str(&left), buf_str(&right), left.len) == 0))
        buf_add(out, text.ptr, text.size);
    git_buf_dispose(&text);
    git_patch_free(patch);
    buf_free(&left);
    buf_free(&right);
    free(path);
    return ok;
}
