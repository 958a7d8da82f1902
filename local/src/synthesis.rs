//! The synthesized CDK app. To synthesize it takes longer than to deploy it on an emulator, and depends on the checkout alone but
//! for two addresses. So it is done once for as long as the checkout is the same, with made-up addresses that each deployment
//! replaces.

use std::fs::{self, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};

use crate::identity::AUDIENCE;
use crate::paths;
use crate::process::Kept;

/// What the app reads, in its folder: not its tests.
const OF_THE_APP: [&str; 8] =
    ["bin", "cdk.json", "deployments", "edge", "lib", "node_modules/.package-lock.json", "package.json", "settings"];
const TEMPLATE: &str = "FlashSale.template.json";
/// The made-up addresses. The issuer's does not begin with the emulator's, so that each is replaced by its own.
const EMULATOR: &str = "http://127.0.0.1:4566";
const ISSUER: &str = "http://127.0.0.2:4566/issuer";
/// What a synthesis writes to before it is whole. One that is this old was given up.
const UNFINISHED: &str = "unfinished-";
const GIVEN_UP_AFTER: Duration = Duration::from_secs(3600);
/// How often the synthesis is looked at.
const LOOK: Duration = Duration::from_millis(50);

/// The app as `cdk deploy --app` takes it, in the folder `home`, for an emulator at `endpoint` with tokens by `issuer`.
///
/// # Errors
/// If the app cannot be synthesized, with CDK's output, or a file cannot be read or written.
pub(crate) async fn synthesized(endpoint: &str, issuer: &str, home: &Path) -> Result<PathBuf> {
    let all = paths::target().join("synthesized");
    let kept = all.join(format!("{:016x}", state_of_the_checkout()?));
    if !kept.join(TEMPLATE).exists() {
        synthesize(&all, &kept, home).await?;
    }
    let app = home.join("cdk.out");
    let _ = fs::remove_dir_all(&app);
    copy(&kept, &app, &[(ISSUER, issuer), (EMULATOR, endpoint)])
        .with_context(|| format!("cannot copy {}", kept.display()))?;
    Ok(app)
}

async fn synthesize(all: &Path, kept: &Path, home: &Path) -> Result<()> {
    let unfinished = all.join(format!("{UNFINISHED}{}-{:p}", std::process::id(), &home));
    let mut cdk = command();
    cdk.args(["synth", "--quiet", "-c", "settings=local", "-c", &format!("issuer={ISSUER}")])
        .args(["-c", &format!("audience={AUDIENCE}"), "-c", &format!("emulator={EMULATOR}")])
        .args(["-c", &format!("functions={}", paths::target().join("lambda").display())])
        .arg("--output")
        .arg(&unfinished);
    let log = home.join("cdk.log");
    let mut process = Kept::start("node", &cdk, &log)?;
    while !process.has_ended()? {
        tokio::time::sleep(LOOK).await;
    }
    let said = || fs::read_to_string(&log).unwrap_or_default();
    ensure!(unfinished.join(TEMPLATE).exists(), "node failed:\n{}", said().trim_end());
    for old in fs::read_dir(all)?.flatten().map(|entry| entry.path()).filter(|path| *path != unfinished) {
        let is_unfinished = old.file_name().is_some_and(|name| name.to_string_lossy().starts_with(UNFINISHED));
        if !is_unfinished || age(&old).is_some_and(|age| age > GIVEN_UP_AFTER) {
            let _ = fs::remove_dir_all(old);
        }
    }
    let renamed = fs::rename(&unfinished, kept);
    // Another program may have been as fast.
    ensure!(kept.join(TEMPLATE).exists(), "cannot write {}: {renamed:?}", kept.display());
    let _ = fs::remove_dir_all(unfinished);
    Ok(())
}

/// CDK's command, in the app's folder.
pub(crate) fn command() -> Command {
    let mut cdk = Command::new("node");
    cdk.current_dir(paths::cdk())
        .arg("node_modules/aws-cdk/bin/cdk")
        // The template check takes longer than the deployment; the app's own tests run it.
        .env("CDK_VALIDATION", "false")
        .env("CDK_DISABLE_VERSION_CHECK", "1")
        .env_remove("AWS_PROFILE");
    cdk
}

fn age(path: &Path) -> Option<Duration> {
    SystemTime::now().duration_since(path.metadata().ok()?.modified().ok()?).ok()
}

/// A digest of all that the app reads: names, sizes and times of the files, as `make` would look at them.
fn state_of_the_checkout() -> io::Result<u64> {
    let mut hasher = DefaultHasher::new();
    paths::target().hash(&mut hasher);
    for name in OF_THE_APP {
        look_at(&paths::cdk().join(name), &mut hasher)?;
    }
    look_at(&paths::root().join("openapi.yaml"), &mut hasher)?;
    look_at(&paths::target().join("lambda"), &mut hasher)?;
    Ok(hasher.finish())
}

fn look_at(path: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    path.hash(hasher);
    let data = path.metadata()?;
    if !data.is_dir() {
        return Ok((data.len(), since_epoch(&data)?).hash(hasher));
    }
    let mut inside = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    inside.sort();
    inside.iter().try_for_each(|path| look_at(path, hasher))
}

fn since_epoch(data: &Metadata) -> io::Result<Duration> {
    Ok(data.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Copies a folder. The template gets other addresses; the large files are the same on the disk.
fn copy(from: &Path, to: &Path, addresses: &[(&str, &str)]) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let (entry, path) = entry.map(|entry| (entry.file_name(), entry.path()))?;
        let target = to.join(&entry);
        if path.is_dir() {
            copy(&path, &target, addresses)?;
        } else if entry == TEMPLATE {
            let text = fs::read_to_string(&path)?;
            fs::write(target, addresses.iter().fold(text, |text, (made_up, real)| text.replace(made_up, real)))?;
        } else if fs::hard_link(&path, &target).is_err() {
            // Another file system.
            fs::copy(&path, &target)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_the_addresses_of_its_emulator_in_the_template() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::create_dir_all(from.join("asset.1")).unwrap();
        fs::write(from.join(TEMPLATE), format!("[\"{EMULATOR}/a\", \"{ISSUER}\", \"{EMULATOR}\"]")).unwrap();
        fs::write(from.join("asset.1/code.zip"), EMULATOR).unwrap();
        copy(&from, &to, &[(ISSUER, "http://i"), (EMULATOR, "http://e")]).unwrap();
        assert_eq!(fs::read_to_string(to.join(TEMPLATE)).unwrap(), r#"["http://e/a", "http://i", "http://e"]"#);
        assert_eq!(
            fs::read_to_string(to.join("asset.1/code.zip")).unwrap(),
            EMULATOR,
            "only the template has addresses"
        );
        assert_eq!(fs::read_to_string(from.join("asset.1/code.zip")).unwrap(), EMULATOR);
    }

    #[test]
    fn whatever_changes_in_a_folder_changes_its_digest() {
        let folder = tempfile::tempdir().unwrap();
        let digest = || {
            let mut hasher = DefaultHasher::new();
            look_at(folder.path(), &mut hasher).unwrap();
            hasher.finish()
        };
        let mut digests = vec![digest()];
        let mut changed = |what: &str| {
            assert_eq!(digest(), digest());
            assert!(!digests.contains(&digest()), "{what}");
            digests.push(digest());
        };
        let file = folder.path().join("lib/stack.ts");
        fs::create_dir(folder.path().join("lib")).unwrap();
        changed("a folder");
        fs::write(&file, "1").unwrap();
        changed("a file");
        fs::write(&file, "12").unwrap();
        changed("its size");
        fs::File::options().write(true).open(&file).unwrap().set_modified(UNIX_EPOCH).unwrap();
        changed("its time");
        fs::rename(&file, file.with_extension("js")).unwrap();
        changed("its name");
    }
}
