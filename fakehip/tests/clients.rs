//! C programs against the built libraries, one behaviour each.

mod client;
mod compiler;

use client::{Client, fakes};
use fakehip::Version;

#[test]
fn properties_follow_the_rule_and_stay_within_their_struct() {
    for version in Version::ALL {
        Client::of_hip("properties", version)
            .env("FAKEHIP_DEVICES", "2")
            .run();
    }
}

#[test]
fn memory_is_allocated_copied_filled_and_checked() {
    for version in Version::ALL {
        Client::of_hip("memory", version).run();
    }
}

#[test]
fn memory_behaves_the_same_while_recording() {
    Client::of_hip("memory", Version::V7_14)
        .env("FAKEHIP_RECORD", "1")
        .run();
}

#[test]
fn streams_and_events_check_their_handles() {
    for version in [Version::V5_7_1, Version::V7_14] {
        Client::of_hip("streams_events", version).run();
    }
}

#[test]
fn the_last_error_has_its_version_s_meaning_and_the_version_its_number() {
    for version in Version::ALL {
        let printed = Client::of_hip("last_error", version).run();
        assert_eq!(printed, version.runtime_version().to_string());
    }
}

#[test]
fn launches_are_recorded_with_all_argument_values() {
    for version in Version::ALL {
        Client::of_hip("launch", version).run();
    }
}

/// The client counts what it compared: older versions export fewer of the functions.
#[test]
fn structs_are_kept_and_written_as_the_version_has_them() {
    let counts = [19, 21, 24, 27, 38, 53, 53, 53, 53];
    for (version, count) in Version::ALL.into_iter().zip(counts) {
        let checked = Client::of_hip("given", version).run();
        assert_eq!(checked, count.to_string(), "{version}");
    }
}

#[test]
fn arguments_are_kept_and_constants_are_the_version_s() {
    for version in Version::ALL {
        Client::of_hip("arguments", version).run();
    }
}

#[test]
fn the_derivative_fills_its_own_struct() {
    Client::of_dtk("dtk").env("FAKEHIP_DEVICES", "2").run();
}

#[test]
fn errors_can_be_forced() {
    Client::of_hip("forced", Version::V7_14)
        .env(
            "FAKEHIP_ERRORS",
            "hipMemset=1@2x1,hipSetDevice=hipErrorNoDevice@1",
        )
        .run();
}

#[test]
fn a_mistake_in_the_environment_is_reported_and_ignored() {
    let output = Client::of_hip("not_modelled", Version::V7_14)
        .env("FAKEHIP_DEVICES", "many")
        .env(
            "FAKEHIP_ERRORS",
            "hipNope=1,hipMalloc,hipFree=hipErrorNope,hiprtcVersion=1",
        )
        .output();
    assert!(output.status.success());
    let stderr = String::from_utf8(output.stderr).unwrap();
    for part in [
        "FAKEHIP_DEVICES: 'many' is not a number from 0 to 64",
        "'hipNope=1' names a function that this runtime does not export",
        "'hipMalloc' has no '='",
        "'hipFree=hipErrorNope' has an unknown error code",
    ] {
        assert!(stderr.contains(part), "{part} in {stderr}");
    }
    assert_eq!(stderr.lines().count(), 4, "{stderr}");
}

#[test]
fn the_log_has_one_readable_line_per_call() {
    let client = Client::of_hip("log", Version::V7_14);
    let file = client.path("log.txt");
    let client = client.env("FAKEHIP_LOG", file.to_str().unwrap());
    let printed = client.run();
    assert_eq!(printed, client.read("log.txt"));
    let patterns: &[&[&str]] = &[
        &["hipGetDevice(*device=0) = hipSuccess"],
        &["hipSetDevice(device=3) = hipErrorInvalidDevice"],
        &["hipMalloc(*pointer=0x", ", size=64) = hipSuccess"],
        &[
            "hipMemcpy(dst=0x",
            ", bytes=4, kind=hipMemcpyHostToDevice) = hipSuccess",
        ],
        &["hipGetErrorString(error=2) = \"out of memory\""],
        &["hipGraphCreate = hipErrorNotSupported  {not modelled}"],
        &["hipModuleLoadData(*module=0x"],
        &[
            "hipModuleGetFunction(*function=0x",
            ", name=\"k\") = hipSuccess",
        ],
        &[
            "hipModuleLaunchKernel(function=0x",
            "stream=NULL, params=0x",
            "{kernel \"k\", grid (1, 1, 1), block (2, 1, 1), arg 0 = 0x01020304}",
        ],
        &["hipFree(pointer=0x", ") = hipErrorInvalidValue (forced)"],
    ];
    assert_eq!(printed.lines().count(), patterns.len(), "{printed}");
    for (line, parts) in printed.lines().zip(patterns) {
        assert!(line.starts_with(parts[0]), "{line}");
        assert!(parts.iter().all(|part| line.contains(part)), "{line}");
    }
}

#[test]
fn without_devices_it_is_a_machine_without_a_gpu() {
    for version in Version::ALL {
        Client::of_hip("no_device", version)
            .env("FAKEHIP_DEVICES", "0")
            .run();
    }
}

#[test]
fn what_is_not_modelled_says_so() {
    Client::of_hip("not_modelled", Version::V6_4_3).run();
}

#[test]
fn sixty_four_threads_start_at_once() {
    for recording in ["0", "1"] {
        Client::of_hip("threads", Version::V7_14)
            .env("FAKEHIP_DEVICES", "4")
            .env("FAKEHIP_RECORD", recording)
            .run();
    }
}

#[test]
fn a_fork_of_a_busy_process_can_go_on() {
    Client::of_hip("fork", Version::V7_14).run();
}

#[test]
fn a_copy_opened_locally_works_and_gives_out_its_own_addresses() {
    let client = Client::compile("local_scope", Version::V7_14, &[]);
    let path = fakes().join("7.14/libamdhip64.so.7");
    let status = client.command().arg(path).status().unwrap();
    assert!(status.success());
}

#[test]
fn programs_are_compiled_to_modules_that_know_their_arguments() {
    for (version, libraries) in [
        (Version::V7_14, &["libhiprtc.so.7", "libamdhip64.so.7"][..]),
        (Version::V6_4_3, &["libhiprtc.so.6", "libamdhip64.so.6"]),
        (Version::V5_7_1, &["libamdhip64.so.5"]),
    ] {
        let code = Client::compile("rtc", version, libraries).run();
        for line in [
            "# option --offload-arch=gfx942",
            "kernel scale 8 4 4",
            "kernel fill ?",
            "kernel fill_3cfloat_3e ?",
            "kernel with_struct ?",
            "kernel empty",
        ] {
            assert!(code.lines().any(|found| found == line), "{line} in\n{code}");
        }
        assert_eq!(code.matches("kernel ").count(), 5, "{code}");
    }
}
