//! How the development build of the shared library is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    for argument in [
        // All relocations at load, so that the table of addresses is read-only after.
        "-Wl,-z,now,-z,relro",
        // Slots point into runtimes, and threads may be inside: never unloaded.
        "-Wl,-z,nodelete",
        // Calls inside the library cannot be interposed.
        "-Wl,-Bsymbolic",
    ] {
        println!("cargo:rustc-cdylib-link-arg={argument}");
    }
}
