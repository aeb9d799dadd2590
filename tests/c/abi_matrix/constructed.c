/* Linked into a fake runtime: its constructor calls the program's function. */
extern void in_constructor(const char *);

__attribute__((constructor)) static void construct(void)
{
    in_constructor("runtime");
}
