//! A progress bar on a terminal, nothing elsewhere.

use std::io::{stderr, IsTerminal};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use splitprove::engine::{Progress, Stage};

/// A bar of 1000 steps that goes away when dropped.
pub struct Bar(ProgressBar);

impl Bar {
    /// A bar with a word before it.
    pub fn new(what: &str) -> Self {
        let target = if stderr().is_terminal() { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(1000), target);
        if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:40}] {percent:>3} %  {elapsed}  {msg}") {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(what.to_string());
        Bar(bar)
    }

    /// Shows that so many thousandths are done.
    pub fn set(&self, permille: u32) {
        self.0.set_position(permille.min(1000).into());
    }

    /// Shows where a proof stands.
    pub fn show(&self, progress: &Progress) {
        let stage = match progress.stage {
            Stage::Queued => "decoding",
            Stage::Loading => "loading parameters",
            Stage::Witness => "witness",
            Stage::Device => "proving",
            Stage::Finishing => "finishing",
            Stage::Done => "done",
        };
        let done = progress.partitions_done;
        self.0.set_message(match progress.partitions {
            0 | 1 => stage.to_string(),
            all => format!("{stage}, partition {} of {all}", (done + 1).min(all)),
        });
        self.set(progress.permille);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
