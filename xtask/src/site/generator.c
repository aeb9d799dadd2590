/* Stands for a library that the runtime's compiler needs, with logging inside. */
int spdlog_registry(void);
int spdlog_level(void);

int generate(void)
{
    return spdlog_registry() + spdlog_level();
}
