//! Stages each built function in the folder that it is deployed from, with its archive.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const PROGRAM: &str = "bootstrap";
const ARCHIVE: &str = "bootstrap.zip";
const COMING: &str = "coming-";

/// Copies a built program to the first folder, archives it there as `bootstrap.zip`, and links both into the others:
/// the same files of functions that are one program. Archives for AWS also have licences.
pub(crate) fn stage_functions(built: &Path, folders: &[PathBuf]) -> Result<()> {
    let Some((first, others)) = folders.split_first() else { return Ok(()) };
    stage_function(built, first)?;
    for folder in others {
        let link = |name: &str| link_file(&first.join(name), &folder.join(name));
        std::fs::create_dir_all(folder)
            .and_then(|()| [PROGRAM, ARCHIVE].into_iter().try_for_each(link))
            .with_context(|| format!("cannot fill {}", folder.display()))?;
    }
    Ok(())
}

fn link_file(file: &Path, other: &Path) -> std::io::Result<()> {
    let number = file.metadata()?.ino();
    if other.metadata().is_ok_and(|known| known.ino() == number) {
        return Ok(());
    }
    let coming = coming(other);
    let _ = std::fs::remove_file(&coming);
    std::fs::hard_link(file, &coming)?;
    std::fs::rename(coming, other)
}

/// Stages a program and its archive, unless they are there. CDK would archive it for each deployment, which takes longer
/// than the rest of the deployment. An archive is out of date if its time differs from the program's
/// (`infra/cdk/lib/function-assets.ts`).
fn stage_function(built: &Path, folder: &Path) -> Result<()> {
    let modified = built.metadata().and_then(|built| built.modified());
    let modified = modified.with_context(|| format!("cannot read {}", built.display()))?;
    let files = [ARCHIVE, PROGRAM].map(|name| folder.join(name));
    let is_there = |file: &PathBuf| file.metadata().and_then(|old| old.modified()).is_ok_and(|at| at == modified);
    if files.iter().all(is_there) {
        return Ok(());
    }
    // A concurrent deployment gets whole files.
    let put = |staged: &Path, write: &dyn Fn(&Path) -> std::io::Result<()>| {
        let coming = coming(staged);
        write(&coming)?;
        File::options().write(true).open(&coming)?.set_modified(modified)?;
        std::fs::rename(coming, staged)
    };
    let [archive, program] = &files;
    let unfilled = || format!("cannot fill {}", folder.display());
    let copied =
        std::fs::create_dir_all(folder).and_then(|()| put(program, &|file| std::fs::copy(built, file).map(drop)));
    copied.with_context(unfilled)?;
    // Of the copy: a build may replace the program meanwhile.
    let zip = archive_of(program)?;
    put(archive, &|file| std::fs::write(file, &zip)).with_context(unfilled)
}

pub(crate) fn archive_of(program: &Path) -> Result<Vec<u8>> {
    let mut zip = ZipWriter::new(std::io::Cursor::new(Vec::new()));
    // Without a time, so that the same program gives the same archive.
    zip.start_file(PROGRAM, SimpleFileOptions::default().compression_level(Some(1)).unix_permissions(0o755))?;
    let mut file = File::open(program).with_context(|| format!("cannot read {}", program.display()))?;
    std::io::copy(&mut file, &mut zip)?;
    Ok(zip.finish()?.into_inner())
}

/// Where a file of a function's folder is written first: beside the folder, since everything in it is deployed.
fn coming(staged: &Path) -> PathBuf {
    let folder = staged.parent().unwrap_or(staged);
    folder.with_extension(format!("{COMING}{}", std::process::id()))
}

pub(crate) fn is_coming(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.to_string_lossy().starts_with(COMING))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Read};
    use std::time::{Duration, UNIX_EPOCH};

    use tempfile::TempDir;

    use super::*;

    fn stage(work: &TempDir, program: &str, built_at_s: u64) {
        let built = work.path().join("built");
        std::fs::write(&built, program).unwrap();
        let at = UNIX_EPOCH + Duration::from_secs(built_at_s);
        File::options().write(true).open(&built).unwrap().set_modified(at).unwrap();
        stage_function(&built, &work.path().join("function")).unwrap();
        assert_eq!(std::fs::read_dir(work).unwrap().count(), 2, "something was left behind");
    }

    #[test]
    fn a_function_is_staged_when_it_is_another_one() {
        let work = tempfile::tempdir().unwrap();
        let inodes = || {
            ["bootstrap", "bootstrap.zip"].map(|name| work.path().join("function").join(name).metadata().unwrap().ino())
        };
        stage(&work, "one", 2);
        let first = inodes();
        stage(&work, "one", 2);
        assert_eq!(inodes(), first, "the same one was copied again");
        // Older than the staged one, as after switching back to an earlier branch.
        stage(&work, "two", 1);
        assert_eq!(std::fs::read_to_string(work.path().join("function/bootstrap")).unwrap(), "two");
    }

    #[test]
    fn functions_of_one_program_are_the_same_files_also_after_a_change() {
        let work = tempfile::tempdir().unwrap();
        let folders = ["function", "other"].map(|name| work.path().join(name));
        for program in ["one", "two"] {
            let built = work.path().join("built");
            std::fs::write(&built, program).unwrap();
            stage_functions(&built, &folders).unwrap();
            for name in [PROGRAM, ARCHIVE] {
                let [first, second] = folders.each_ref().map(|folder| folder.join(name).metadata().unwrap().ino());
                assert_eq!(first, second, "{name}");
            }
            assert_eq!(std::fs::read_to_string(folders[1].join(PROGRAM)).unwrap(), program);
        }
    }

    #[test]
    fn an_archive_has_the_program() {
        let work = tempfile::tempdir().unwrap();
        let archived = |program, at_s| {
            stage(&work, program, at_s);
            std::fs::read(work.path().join("function/bootstrap.zip")).unwrap()
        };
        let one = archived("one", 1);
        assert_ne!(archived("two", 2), one);
        assert_eq!(archived("one", 3), one, "the same program is another archive");
        let mut files = zip::ZipArchive::new(Cursor::new(one)).unwrap();
        let mut file = files.by_name("bootstrap").unwrap();
        assert_eq!(file.unix_mode().unwrap() & 0o777, 0o755);
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!(text, "one");
    }
}
