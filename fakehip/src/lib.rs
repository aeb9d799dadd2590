//! A fake HIP runtime.
