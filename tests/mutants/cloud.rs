//! In place of `tests/system/cloud.rs` in the copy that `run.py` compiles: a system that outlives the test processes.

use std::io::Read;
use std::sync::LazyLock;

use local::cloud::Cloud;
use local::deployment::Deployment;
use local::identity::Issuer;

pub(crate) static DENYING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// What tests use of a system that another process runs.
pub(crate) struct Kept {
    pub(crate) deployment: Deployment,
    pub(crate) issuer: Issuer,
}

fn file() -> String {
    std::env::var("MUTANT_CLOUD").expect("MUTANT_CLOUD names the file of a kept system")
}

pub(crate) async fn cloud() -> &'static Kept {
    static KEPT: LazyLock<Kept> = LazyLock::new(|| {
        let text = std::fs::read_to_string(file()).expect("a kept system");
        let (deployment, pem): (Deployment, String) = serde_json::from_str(&text).expect("its addresses");
        let issuer = Issuer::from_pem(&deployment.endpoint, pem).expect("its key");
        Kept { deployment, issuer }
    });
    &KEPT
}

/// Keeps a system until standard input ends.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "run.py starts it"]
async fn keep() {
    let cloud = Cloud::start().await.unwrap();
    let text = serde_json::to_string(&(&cloud.deployment, cloud.issuer.private_key_pem())).unwrap();
    let unfinished = format!("{}.new", file());
    std::fs::write(&unfinished, text).unwrap();
    std::fs::rename(unfinished, file()).unwrap();
    tokio::task::spawn_blocking(|| std::io::stdin().read_to_end(&mut Vec::new())).await.unwrap().unwrap();
}
