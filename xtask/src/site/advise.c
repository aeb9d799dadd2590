/* A library that needs a function of HIP 7.1. */
struct location {
    int type, id;
};

int hipMemAdvise_v2(const void *memory, unsigned long bytes, int advice, struct location where);

int advise(const void *memory)
{
    struct location where = {1, 0};
    return hipMemAdvise_v2(memory, 4096, 1, where);
}
