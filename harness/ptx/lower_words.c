#include "harness/ptx/lower.h"

#include <string.h>

struct word_meaning {
    const char *word;
    enum { W_SPACE, W_SEM, W_SCOPE, W_VEC, W_FLAG, W_TYPE, W_SIGNED } what;
    uint8_t value;
};

static const struct word_meaning meanings[] = {
    {"global", W_SPACE, PTX_SPACE_GLOBAL},
    {"shared", W_SPACE, PTX_SPACE_SHARED},
    {"shared::cta", W_SPACE, PTX_SPACE_SHARED},
    {"shared::cluster", W_SPACE, PTX_SPACE_SHARED},
    {"local", W_SPACE, PTX_SPACE_LOCAL},
    {"const", W_SPACE, PTX_SPACE_CONST},
    {"param", W_SPACE, PTX_SPACE_PARAM},
    {"param::entry", W_SPACE, PTX_SPACE_PARAM},
    {"param::func", W_SPACE, PTX_SPACE_PARAM},
    {"weak", W_SEM, SEM_WEAK},
    {"volatile", W_SEM, SEM_VOLATILE},
    {"relaxed", W_SEM, SEM_RELAXED},
    {"acquire", W_SEM, SEM_ACQUIRE},
    {"release", W_SEM, SEM_RELEASE},
    {"acq_rel", W_SEM, SEM_ACQ_REL},
    {"sc", W_SEM, SEM_SC},
    {"cta", W_SCOPE, SCOPE_CTA},
    {"cluster", W_SCOPE, SCOPE_CLUSTER},
    {"gpu", W_SCOPE, SCOPE_GPU},
    {"gl", W_SCOPE, SCOPE_GPU},
    {"sys", W_SCOPE, SCOPE_SYS},
    {"v2", W_VEC, 2},
    {"v4", W_VEC, 4},
    {"ftz", W_FLAG, OP_FTZ},
    {"sat", W_FLAG, OP_SAT},
    {"relu", W_FLAG, OP_RELU},
    {"b8", W_TYPE, 1},
    {"u8", W_TYPE, 1},
    {"s8", W_SIGNED, 1},
    {"b16", W_TYPE, 2},
    {"u16", W_TYPE, 2},
    {"s16", W_SIGNED, 2},
    {"f16", W_TYPE, 2},
    {"bf16", W_TYPE, 2},
    {"b32", W_TYPE, 4},
    {"u32", W_TYPE, 4},
    {"s32", W_SIGNED, 4},
    {"f32", W_TYPE, 4},
    {"f16x2", W_TYPE, 4},
    {"bf16x2", W_TYPE, 4},
    {"b64", W_TYPE, 8},
    {"u64", W_TYPE, 8},
    {"s64", W_SIGNED, 8},
    {"f64", W_TYPE, 8},
};

static const struct word_meaning *meaning(const struct form_word *word)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++) {
        if (strlen(meanings[i].word) == word->len &&
            !memcmp(meanings[i].word, word->text, word->len))
            return &meanings[i];
    }
    return NULL;
}

uint32_t lower_type_bytes(const struct form_word *word)
{
    const struct word_meaning *m = meaning(word);
    return m && (m->what == W_TYPE || m->what == W_SIGNED) ? m->value : 0;
}

void lower_words(const struct form_match *match, struct op *op)
{
    op->vec = 1;
    op->space = PTX_SPACE_GENERIC;
    op->scope = SCOPE_SYS;
    for (unsigned i = 1; i < match->word_count; i++) {
        const struct word_meaning *m = meaning(&match->words[i]);
        if (!m)
            continue;
        switch (m->what) {
        case W_SPACE:
            op->space = m->value;
            break;
        case W_SEM:
            op->sem = m->value;
            break;
        case W_SCOPE:
            op->scope = m->value;
            break;
        case W_VEC:
            op->vec = m->value;
            break;
        case W_FLAG:
            op->flags |= m->value;
            break;
        case W_SIGNED:
        case W_TYPE:
            op->width = m->value;
            op->flags &= (uint16_t)~OP_SIGNED;
            if (m->what == W_SIGNED)
                op->flags |= OP_SIGNED;
            break;
        }
    }
    if (form_has(match, "nc"))
        op->flags |= OP_NC;
}
