/* Listings: the first byte chooses PTX or SASS and whether noise is shown; the rest is the text. */
#include "fuzz_doc.h"

#include "tui/listing.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct lab_landmark landmarks[] = {
        {.name = (char *)"a", .listing = LISTING_PTX, .match = (char *)"cp.async"},
        {.name = (char *)"b",
         .listing = LISTING_SASS,
         .match = (char *)"LDG",
         .since = (char *)"8.0"},
    };
    struct listing listing = {0};
    struct listing_options options = {.landmarks = landmarks, .landmark_count = 2};
    if (!size)
        return 0;
    options.noise = data[0] & 1;
    listing_build(&listing, data[0] & 2 ? LISTING_SASS : LISTING_PTX, (const char *)data + 1,
                  size - 1, &options);
    check_doc(&listing.doc);
    check_shown(&listing.doc, "ld");
    for (uint32_t line = 0; line < listing.doc.line_count; line++) {
        size_t len = 0;
        uint32_t to;
        const char *opcode = listing_opcode(&listing.doc.lines[line], &len);
        must(!opcode || len > 0);
        const char *kernel = listing_kernel(&listing.doc, line, &len);
        must(!kernel || len > 0);
        if (listing_jump(&listing.doc, LISTING_LANDMARK, line, 1, &to))
            must(listing.doc.lines[to].tag & LISTING_LANDMARK);
    }
    listing_free(&listing);
    return 0;
}
