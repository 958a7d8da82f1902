use local::deployment::Deployment;
use local::identity::Issuer;
use tokio::sync::OnceCell;

static CLOUD: OnceCell<Cloud> = OnceCell::const_new();

pub(crate) struct Cloud {
    pub(crate) deployment: Deployment,
    pub(crate) issuer: Issuer,
}

/// The deployed system, shared by all tests of a run.
pub(crate) async fn cloud() -> &'static Cloud {
    let borrow = async || {
        let (deployment, issuer) = local::lend::borrow().unwrap_or_else(|error| panic!("{error:#}"));
        Cloud { deployment, issuer }
    };
    CLOUD.get_or_init(borrow).await
}
