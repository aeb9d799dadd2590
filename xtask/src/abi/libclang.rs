//! The libclang that headers are read with.

use crate::abi::Error;
use crate::fetch;

/// Makes libclang available to bindgen in this process.
///
/// A `LIBCLANG_PATH` from the environment wins; otherwise the fetched copy is
/// used, so that every machine reads headers with the same clang.
pub fn provide() -> Result<(), Error> {
    if std::env::var_os("LIBCLANG_PATH").is_some() {
        return Ok(());
    }
    let folder = fetch::libclang()?;
    // SAFETY: called before bindgen starts, by the task's only thread or by the one
    // test that uses libclang; no other thread of either touches the environment.
    unsafe { std::env::set_var("LIBCLANG_PATH", folder) };
    Ok(())
}
