//! Finds libferry in the directory FERRY_LIB_DIR, or by pkg-config.
use std::{env, fs, process::Command};

fn main() {
    for name in ["FERRY_LIB_DIR", "PKG_CONFIG", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={name}");
    }
    let directory = match env::var("FERRY_LIB_DIR") {
        Ok(directory) => fs::canonicalize(&directory)
            .unwrap_or_else(|error| panic!("FERRY_LIB_DIR={directory}: {error}"))
            .display()
            .to_string(),
        Err(_) => ask_pkg_config(),
    };
    println!("cargo:rustc-link-search=native={directory}");
    println!("cargo:libdir={directory}"); // DEP_FERRY_LIBDIR for the build.rs of crates that depend on this one
    if env::var_os("CARGO_FEATURE_STATIC").is_some() {
        println!("cargo:rustc-link-lib=static=ferry");
    } else {
        println!("cargo:rustc-link-lib=dylib=ferry");
        if env::var("CARGO_CFG_TARGET_FAMILY").as_deref() == Ok("unix") {
            println!("cargo:rustc-link-arg=-Wl,-rpath,{directory}"); // of this package's tests and examples
        }
    }
}

fn ask_pkg_config() -> String {
    let program = env::var("PKG_CONFIG").unwrap_or_else(|_| "pkg-config".into());
    let ask = |question: &[&str]| {
        let output = Command::new(&program).args(question).output();
        let output = output.unwrap_or_else(|error| panic!("{program}: {error}; or set FERRY_LIB_DIR"));
        let text = |bytes| String::from_utf8_lossy(bytes).trim().to_string();
        assert!(output.status.success(), "{}\nor set FERRY_LIB_DIR", text(&output.stderr));
        text(&output.stdout)
    };
    ask(&["--exists", "--print-errors", "ferry >= 0.1.0", "ferry < 0.2"]);
    ask(&["--variable=libdir", "ferry"])
}
