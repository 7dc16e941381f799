#include "tui/theme.h"

#include "harness/base/file.h"

#include <stdlib.h>
#include <string.h>

static const char *const order[] = {"dark", "light", "mono"};
enum { THEMES = sizeof order / sizeof *order };

static const struct {
    const char *name;
    uint16_t bit;
} attributes[] = {{"bold", LOOK_BOLD},
                  {"dim", LOOK_DIM},
                  {"italic", LOOK_ITALIC},
                  {"underline", LOOK_UNDERLINE},
                  {"reverse", LOOK_REVERSE}};

static const struct {
    enum style style;
    uint16_t attributes;
} mono[] = {{STYLE_STRONG, LOOK_BOLD},
            {STYLE_EMPHASIS, LOOK_UNDERLINE},
            {STYLE_HEADING, LOOK_BOLD},
            {STYLE_LINK, LOOK_UNDERLINE},
            {STYLE_KEYWORD, LOOK_BOLD},
            {STYLE_LANDMARK, LOOK_BOLD | LOOK_UNDERLINE},
            {STYLE_ASM_REGION, LOOK_BOLD},
            {STYLE_PASS, LOOK_BOLD},
            {STYLE_FAIL, LOOK_BOLD | LOOK_UNDERLINE},
            {STYLE_WARN, LOOK_BOLD},
            {STYLE_DIFF_ADD, LOOK_BOLD},
            {STYLE_DIFF_REMOVE, LOOK_UNDERLINE},
            {STYLE_SELECTED, LOOK_REVERSE},
            {STYLE_MATCH, LOOK_REVERSE | LOOK_UNDERLINE},
            {STYLE_BORDER_FOCUS, LOOK_BOLD},
            {STYLE_TITLE, LOOK_BOLD},
            {STYLE_STATUS, LOOK_REVERSE},
            {STYLE_KEY, LOOK_BOLD}};

static struct look plain_look(void)
{
    return (struct look){.fg = -1, .bg = -1, .fg16 = -1, .bg16 = -1};
}

static void start(struct theme *out, const char *name)
{
    memset(out, 0, sizeof *out);
    strncpy(out->name, name, sizeof out->name - 1);
    for (int i = 0; i < STYLE_COUNT; i++)
        out->looks[i] = plain_look();
}

void theme_mono(struct theme *out)
{
    start(out, "mono");
    for (size_t i = 0; i < sizeof mono / sizeof *mono; i++)
        out->looks[mono[i].style].attributes = mono[i].attributes;
}

static bool parse_colour(const char *word, int16_t *full, int16_t *small)
{
    char *end;
    long value = strtol(word, &end, 10);
    if (end == word || value < 0 || value > 255)
        return false;
    *full = (int16_t)value;
    *small = (int16_t)(value < 16 ? value : -1);
    if (*end == '/') {
        const char *second = end + 1;
        value = strtol(second, &end, 10);
        if (end == second || value < 0 || value > 15)
            return false;
        *small = (int16_t)value;
    }
    return *end == '\0';
}

static bool parse_look(struct look *look, char *words)
{
    char *rest = NULL;
    bool background = false;
    for (char *word = strtok_r(words, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        bool known = false;
        for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
            if (strcmp(word, attributes[i].name) == 0) {
                look->attributes |= attributes[i].bit;
                known = true;
            }
        if (known)
            continue;
        if (strcmp(word, "on") == 0)
            background = true;
        else if (!parse_colour(word, background ? &look->bg : &look->fg,
                               background ? &look->bg16 : &look->fg16))
            return false;
    }
    return true;
}

static int find_style(const char *name)
{
    for (int i = 0; i < STYLE_COUNT; i++)
        if (strcmp(style_name((enum style)i), name) == 0)
            return i;
    return -1;
}

static bool parse_line(struct theme *out, char *line, const char *where, int number,
                       struct err *err)
{
    line += strspn(line, " \t");
    if (*line == '\0' || *line == '#')
        return true;
    char *equals = strchr(line, '=');
    if (!equals)
        return err_set(err, "%s:%d: a line is `style = look`", where, number);
    size_t len = (size_t)(equals - line);
    while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t'))
        len--;
    line[len] = '\0';
    int style = find_style(line);
    if (style < 0)
        return err_set(err, "%s:%d: there is no style '%s'; tui/styles.def lists them", where,
                       number, line);
    out->looks[style] = plain_look();
    if (!parse_look(&out->looks[style], equals + 1))
        return err_set(err,
                       "%s:%d: a look is [COLOUR] [on COLOUR] [bold dim italic underline "
                       "reverse], a COLOUR 0-255 or 0-255/0-15",
                       where, number);
    return true;
}

bool theme_parse(struct theme *out, const char *text, const char *where, struct err *err)
{
    start(out, "");
    char *copy = mem_strdup(text), *rest = copy;
    bool ok = true;
    for (int number = 1; ok && rest; number++) {
        char *line = strsep(&rest, "\n");
        ok = parse_line(out, line, where, number, err);
    }
    free(copy);
    return ok;
}

bool theme_load(struct theme *out, const char *root, const char *name, struct err *err)
{
    char *path = mem_printf("%s/assets/themes/%s.theme", root, name);
    struct buf text = {0};
    bool ok = file_read(&text, path, 1 << 16, err) && theme_parse(out, buf_str(&text), path, err);
    if (ok)
        strncpy(out->name, name, sizeof out->name - 1);
    buf_free(&text);
    free(path);
    return ok;
}

const char *theme_next(const char *name)
{
    for (int i = 0; i < THEMES; i++)
        if (strcmp(order[i], name) == 0)
            return order[(i + 1) % THEMES];
    return order[0];
}

bool theme_no_color(void)
{
    const char *value = getenv("NO_COLOR");
    return value && *value;
}

const char *theme_pick(const char *asked)
{
    if (theme_no_color())
        return "mono";
    for (int i = 0; asked && i < THEMES; i++)
        if (strcmp(order[i], asked) == 0)
            return order[i];
    /* rxvt, konsole and others say "foreground;background" in the 16 colours */
    const char *colours = getenv("COLORFGBG");
    const char *background = colours ? strrchr(colours, ';') : NULL;
    int number = background ? atoi(background + 1) : 0;
    return number == 7 || number == 15 ? "light" : "dark";
}
