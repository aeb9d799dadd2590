/* Stands for the runtime's compiler. */
int generate(void);

int compile(void)
{
    return generate();
}
