/* Stands for spdlog, which two libraries contain in two versions. */
int spdlog_registry(void)
{
    return 1;
}

int spdlog_level(void)
{
    return 2;
}
