use std::sync::LazyLock;

use local::cloud::Cloud;
use local::setup::set_up;
use tokio::runtime::Runtime;
use tokio::sync::OnceCell;
use tokio::task::spawn_blocking;

/// A denial is noted in every round of the deployed system. Tests hold this while they deny there, or while their round must
/// not change.
pub(crate) static DENYING: tokio::sync::Mutex<()> = tokio::sync::Mutex::const_new(());

/// Each test's runtime ends with it, but the gateway must outlive the test that started it.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| Runtime::new().expect("threads"));

static CLOUD: OnceCell<Result<Cloud, String>> = OnceCell::const_new();

/// The deployed system, shared by all tests. Its processes end with this one.
pub(crate) async fn cloud() -> &'static Cloud {
    let start = async || {
        let built = spawn_blocking(set_up).await.expect("the build runs");
        match built {
            Ok(()) => {
                let started = RUNTIME.spawn(Cloud::start()).await.expect("the start does not panic");
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
