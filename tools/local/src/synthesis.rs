//! The synthesized CDK app, kept in `target/synthesized` until the checkout changes.
//!
//! Synthesis takes longer than deployment on an emulator, and its output depends on nothing but the checkout and two
//! addresses. So it runs once for each state of the checkout, with made-up addresses that every deployment replaces.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use uuid::Uuid;

use crate::archives::is_coming;
use crate::identity::AUDIENCE;
use crate::paths;
use crate::process::Kept;

/// What the app reads from its folder.
const OF_THE_APP: [&str; 9] =
    ["bin", "cdk.json", "deployments", "edge", "lib", "openapi", "package.json", "settings", "typescript.js"];
/// Of the checkout. The second one is what `tools/packages.sh` has installed for the app.
const OF_THE_CHECKOUT: [&str; 2] = ["api.yaml", "node_modules/.installed/cdk"];
pub(crate) const TEMPLATE: &str = "FlashSale.template.json";
/// Written last: a synthesis that has it is complete.
const COMPLETE: &str = "manifest.json";
/// Which files belong to the stack.
pub(crate) const ASSETS: &str = "FlashSale.assets.json";
/// The made-up addresses, which no real one contains (RFC 2606).
const EMULATOR: &str = "http://emulator.invalid:4566";
const ISSUER: &str = "http://issuer.invalid:4566/issuer";
/// After this long, nobody finishes a synthesis any more or copies that of an earlier state of the checkout.
const GIVEN_UP_AFTER: Duration = Duration::from_secs(3600);
const POLL: Duration = Duration::from_millis(50);

/// Puts the app for an emulator at `endpoint` and tokens by `issuer` into the folder `home`. Returns its path.
pub(crate) async fn synthesized(endpoint: &str, issuer: &str, home: &Path) -> Result<PathBuf> {
    let kept = prepare().await?;
    let app = home.join("cdk.out");
    let _ = fs::remove_dir_all(&app);
    copy(&kept, &app, &[(ISSUER, issuer), (EMULATOR, endpoint)])
        .with_context(|| format!("cannot copy {}", kept.display()))?;
    Ok(app)
}

/// Synthesizes the app unless the checkout has not changed since, and returns where it is.
pub(crate) async fn prepare() -> Result<PathBuf> {
    let all = paths::target().join("synthesized");
    let kept = all.join(format!("{:016x}", state_of_the_checkout()?));
    if !kept.join(COMPLETE).exists() {
        synthesize(&all, &kept).await?;
    }
    Ok(kept)
}

/// Runs the app as CDK's command does. That would also ask STS for the account.
async fn synthesize(all: &Path, kept: &Path) -> Result<()> {
    let unfinished = all.join(format!("unfinished-{}", Uuid::now_v7().as_simple()));
    let functions = paths::target().join("lambda");
    let context = json!({
        "settings": "local", "issuer": ISSUER, "audience": AUDIENCE, "emulator": EMULATOR, "functions": functions,
    });
    let mut app = Command::new("node");
    app.current_dir(paths::cdk())
        .args(["--import", "./typescript.js", "bin/flash-sale.ts"])
        // The template check takes longer than the deployment; `npm run lint` runs it.
        .env("CDK_VALIDATION", "false")
        .env("CDK_OUTDIR", &unfinished)
        .env("CDK_CONTEXT_JSON", context.to_string());
    fs::create_dir_all(all).with_context(|| format!("cannot write to {}", all.display()))?;
    let log = unfinished.with_extension("log");
    let mut process = Kept::start("node", &app, &log)?;
    while !process.has_ended()? {
        tokio::time::sleep(POLL).await;
    }
    let said = fs::read_to_string(&log).unwrap_or_default();
    let _ = fs::remove_file(&log);
    ensure!(unfinished.join(COMPLETE).exists(), "node failed:\n{}", said.trim_end());
    remove_old(all, &[kept, &unfinished]).with_context(|| format!("cannot read {}", all.display()))?;
    let renamed = fs::rename(&unfinished, kept);
    // Another program may have put its own there first.
    ensure!(kept.join(COMPLETE).exists(), "cannot write {}: {renamed:?}", kept.display());
    let _ = fs::remove_dir_all(unfinished);
    Ok(())
}

/// Removes what is old and not `used`. Other programs may still be copying from the rest.
fn remove_old(all: &Path, used: &[&Path]) -> io::Result<()> {
    for old in fs::read_dir(all)?.flatten().map(|entry| entry.path()) {
        if !used.contains(&old.as_path()) && age(&old).is_some_and(|age| age > GIVEN_UP_AFTER) {
            let _ = fs::remove_dir_all(&old).or_else(|_| fs::remove_file(&old));
        }
    }
    Ok(())
}

fn age(path: &Path) -> Option<Duration> {
    SystemTime::now().duration_since(path.metadata().ok()?.modified().ok()?).ok()
}

/// A digest of everything that the app reads: the names, sizes and times of the files, as `make` compares them.
fn state_of_the_checkout() -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    (paths::target(), EMULATOR, ISSUER).hash(&mut hasher);
    for name in OF_THE_APP {
        look_at(&paths::cdk().join(name), &mut hasher)?;
    }
    for name in OF_THE_CHECKOUT {
        look_at(&paths::root().join(name), &mut hasher)?;
    }
    look_at(&paths::target().join("lambda"), &mut hasher)?;
    Ok(hasher.finish())
}

fn look_at(path: &Path, hasher: &mut DefaultHasher) -> Result<()> {
    path.hash(hasher);
    let inside = hash_of(path, hasher)
        .with_context(|| format!("cannot read {}, which the CDK app needs; run `./flash install`", path.display()))?;
    inside.iter().try_for_each(|path| look_at(path, hasher))
}

/// Hashes a file, or returns what is in a folder.
fn hash_of(path: &Path, hasher: &mut DefaultHasher) -> io::Result<Vec<PathBuf>> {
    let data = path.metadata()?;
    if !data.is_dir() {
        (data.len(), data.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default()).hash(hasher);
        return Ok(Vec::new());
    }
    let mut inside = fs::read_dir(path)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<PathBuf>>>()?;
    inside.retain(|path| !is_coming(path));
    inside.sort();
    Ok(inside)
}

/// Copies a folder, with other addresses in the template. Large files are linked rather than copied.
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
            // On another file system.
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
        let archives = [&to, &from].map(|folder| fs::read_to_string(folder.join("asset.1/code.zip")).unwrap());
        assert_eq!(archives, [EMULATOR; 2], "only the template has addresses");
    }

    #[test]
    fn only_old_folders_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let named = |name: &str| folder.path().join(name);
        for (name, is_old) in [("kept", true), ("mine", true), ("other", false), ("old", true)] {
            fs::create_dir(named(name)).unwrap();
            if is_old {
                fs::File::open(named(name)).unwrap().set_modified(UNIX_EPOCH).unwrap();
            }
        }
        remove_old(folder.path(), &[&named("kept"), &named("mine")]).unwrap();
        assert_eq!(["kept", "mine", "other", "old"].map(|name| named(name).exists()), [true, true, true, false]);
    }

    #[test]
    fn what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = look_at(&folder.path().join("lib"), &mut DefaultHasher::new()).unwrap_err().to_string();
        assert!(error.contains("/lib, which the CDK app needs; run `./flash install`"), "{error}");
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
        let before = digest();
        fs::write(folder.path().join("lib/order.coming-7"), "").unwrap();
        assert_eq!(digest(), before, "a temporary file of a build");
    }
}
