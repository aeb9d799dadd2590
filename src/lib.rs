//! Lazy binding of the HIP API.
#![no_std]
