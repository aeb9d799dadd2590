#include "check.h"

typedef void *program_t;
int hiprtcVersion(int *, int *);
int hiprtcCreateProgram(program_t *, const char *, const char *, int, const char **, const char **);
int hiprtcAddNameExpression(program_t, const char *);
int hiprtcCompileProgram(program_t, int, const char **);
int hiprtcGetLoweredName(program_t, const char *, const char **);
int hiprtcGetCodeSize(program_t, size_t *);
int hiprtcGetCode(program_t, char *);
int hiprtcGetProgramLogSize(program_t, size_t *);
int hiprtcGetProgramLog(program_t, char *);
int hiprtcDestroyProgram(program_t *);
const char *hiprtcGetErrorString(int);

static const char source[] =
    "// __global__ void comment(int);\n"
    "#define K __global__\n"
    "extern \"C\" __global__ void __launch_bounds__(64) scale(float *x, const float a, int n) {}\n"
    "template <typename T> __global__ void fill(T *x, T value, unsigned long long n) {}\n"
    "struct S { int a; };\n"
    "__global__ void with_struct(S s);\n"
    "extern \"C\" __global__ void empty() {}\n";

int main(void) {
  int major, minor;
  IS(0, hiprtcVersion(&major, &minor));
  CHECK(major == 9 && minor == 0);
  program_t program;
  const char *options[] = {"--offload-arch=gfx942", "-O3"}, *lowered;
  IS(0, hiprtcCreateProgram(&program, source, "scale.hip", 0, NULL, NULL));
  IS(0, hiprtcAddNameExpression(program, "fill<float>"));
  IS(9, hiprtcGetLoweredName(program, "fill<float>", &lowered));
  size_t size;
  IS(4, hiprtcGetCodeSize(program, &size));
  IS(0, hiprtcCompileProgram(program, 2, options));
  IS(8, hiprtcAddNameExpression(program, "late"));
  IS(0, hiprtcGetLoweredName(program, "fill<float>", &lowered));
  CHECK(strcmp(lowered, "fill_3cfloat_3e") == 0);
  IS(10, hiprtcGetLoweredName(program, "other", &lowered));
  IS(0, hiprtcGetCodeSize(program, &size));
  char *code = malloc(size);
  IS(0, hiprtcGetCode(program, code));
  CHECK(strlen(code) == size - 1);
  fputs(code, stdout);

  /* The code loads, and launches know their arguments. */
  hipModule_t module;
  hipFunction_t scale;
  IS(0, hipModuleLoadData(&module, code));
  IS(0, hipModuleGetFunction(&scale, module, "scale"));
  IS(0, hipModuleGetFunction(&scale, module, "scale"));
  IS(0, hiprtcDestroyProgram(&program));
  CHECK(program == NULL);
  IS(4, hiprtcDestroyProgram(&program));

  /* Failures */
  IS(0, hiprtcCreateProgram(&program, "#error no such luck\n", NULL, 0, NULL, NULL));
  IS(6, hiprtcCompileProgram(program, 0, NULL));
  IS(0, hiprtcGetProgramLogSize(program, &size));
  char log[256];
  CHECK(size <= sizeof log);
  IS(0, hiprtcGetProgramLog(program, log));
  CHECK(strstr(log, "error: no such luck"));
  IS(4, hiprtcCompileProgram(module, 0, NULL));
  IS(3, hiprtcCreateProgram(NULL, "", "", 0, NULL, NULL));
  CHECK(strcmp(hiprtcGetErrorString(6), "HIPRTC_ERROR_COMPILATION") == 0);
  CHECK(hiprtcGetErrorString(4711) == NULL);
  return 0;
}
