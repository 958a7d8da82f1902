use std::sync::LazyLock;

use local::cloud::Cloud;
use local::setup::set_up;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

/// A denial is noted in every round of the deployed system. Held by the test that denies there, and by one whose round may not
/// change meanwhile.
pub(crate) static DENYING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Each test has a runtime that ends with it. The gateway goes on after the test that started it.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("threads"));

static CLOUD: OnceCell<Result<Cloud, String>> = OnceCell::const_new();

/// The deployed system, one for all tests. What it runs ends with this process.
pub(crate) async fn cloud() -> &'static Cloud {
    let start = async || {
        let built = spawn_blocking(set_up).await.expect("the build runs");
        match built {
            Ok(()) => {
                let started = RUNTIME.spawn(Cloud::start()).await.expect("it does not panic");
                started.map_err(|error| format!("{error:?}"))
            }
            Err(error) => Err(format!("{error:?}")),
        }
    };
    match CLOUD.get_or_init(start).await {
        Ok(cloud) => cloud,
        Err(error) => panic!("the cloud does not start: {error}"),
    }
}
