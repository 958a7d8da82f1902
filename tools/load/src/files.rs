//! The files that a report is written to.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::page;
use crate::report::Report;

const FILES: [&str; 2] = ["report.json", "report.html"];

impl Report {
    /// Checks that [`Report::write`] can write to a folder, and creates the folder if it does not exist, so that a
    /// failure does not show only after an hour of load.
    pub fn try_folder(folder: &Path) -> Result<()> {
        std::fs::create_dir_all(folder)?;
        for file in FILES.map(|name| folder.join(name)) {
            let is_new = !file.try_exists()?;
            // An earlier report stays until there is a new one.
            let opened = std::fs::OpenOptions::new().create(true).append(true).open(&file);
            opened.with_context(|| file.display().to_string())?;
            if is_new {
                std::fs::remove_file(&file)?;
            }
        }
        Ok(())
    }

    /// Writes `report.json` and `report.html` to a folder and returns their paths.
    pub fn write(&self, folder: &Path) -> Result<[PathBuf; 2]> {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let files = FILES.map(|name| folder.join(name));
        let texts = [format!("{:#}\n", self.to_json()), page::html(self)?];
        for (file, text) in files.iter().zip(texts) {
            std::fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))?;
        }
        Ok(files)
    }
}
