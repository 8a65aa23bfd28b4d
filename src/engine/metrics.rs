//! Metrics in Prometheus' text format.

use std::fmt::{Display, Write};

use super::core::{Engine, Stats};
use crate::telemetry::{Class, Durations, Stage, BOUNDS};

/// Writes metric families.
struct Page(String);

impl Page {
    fn family(&mut self, name: &str, kind: &str, help: &str) {
        self.line(format_args!("# HELP splitprove_{name} {help}"));
        self.line(format_args!("# TYPE splitprove_{name} {kind}"));
    }

    fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        self.line(format_args!("splitprove_{name}{labels} {value}"));
    }

    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a String does not fail.
        let _ = writeln!(self.0, "{line}");
    }

    fn histogram(&mut self, name: &str, help: &str, series: &[(&str, &Durations)]) {
        self.family(name, "histogram", help);
        for (label, durations) in series {
            let (at_most, all) = durations.cumulative();
            for (bound, count) in BOUNDS.iter().zip(at_most) {
                self.sample(&format!("{name}_bucket"), &format!("{{stage=\"{label}\",le=\"{bound}\"}}"), count);
            }
            self.sample(&format!("{name}_bucket"), &format!("{{stage=\"{label}\",le=\"+Inf\"}}"), all);
            self.sample(&format!("{name}_sum"), &format!("{{stage=\"{label}\"}}"), durations.seconds());
            self.sample(&format!("{name}_count"), &format!("{{stage=\"{label}\"}}"), all);
        }
    }
}

impl Engine {
    /// The engine's metrics.
    pub fn metrics_text(&self) -> String {
        let s: Stats = self.stats();
        let mut page = Page(String::with_capacity(16 << 10));
        page.family("build_info", "gauge", "The library's version.");
        page.sample("build_info", concat!("{version=\"", env!("CARGO_PKG_VERSION"), "\"}"), 1);

        page.family("proofs_total", "counter", "Requests by how they ended; started ones by having been taken.");
        for (label, value) in [
            ("started", s.started),
            ("finished", s.finished),
            ("failed", s.failed),
            ("cancelled", s.cancelled),
            ("rejected", s.rejected),
        ] {
            page.sample("proofs_total", &format!("{{outcome=\"{label}\"}}"), value);
        }
        page.family("requests", "gauge", "Requests that wait and requests that are being proved.");
        page.sample("requests", "{state=\"queued\"}", s.queued);
        page.sample("requests", "{state=\"running\"}", s.running);
        page.family("lanes", "gauge", "Devices that prove.");
        page.sample("lanes", "", s.lanes);

        page.family("budget_bytes", "gauge", "The budget for large memory, what is taken of it and what was at most.");
        for (label, value) in [("total", s.budget_bytes), ("used", s.budget_used_bytes), ("peak", s.budget_peak_bytes)]
        {
            page.sample("budget_bytes", &format!("{{value=\"{label}\"}}"), value);
        }
        page.family("params_bytes", "gauge", "Bytes of parameters held.");
        page.sample("params_bytes", "", s.params_bytes);

        let buffers = &self.accounts().buffers;
        for (name, help, value) in [
            ("buffers", "Large buffers by class and stage.", (|b| b.count) as fn(crate::telemetry::BufferStats) -> u64),
            ("buffer_bytes", "Bytes of large buffers by class and stage.", |b| b.bytes),
            ("buffer_peak_bytes", "The most bytes of large buffers at one time, by class and stage.", |b| b.peak_bytes),
        ] {
            page.family(name, "gauge", help);
            for class in Class::ALL {
                for stage in Stage::ALL {
                    let labels = format!("{{class=\"{}\",stage=\"{}\"}}", class.name(), stage.name());
                    page.sample(name, &labels, value(buffers.stats(class, Some(stage))));
                }
            }
        }

        let d = self.durations();
        page.histogram(
            "partition_seconds",
            "Seconds that a partition took in a stage.",
            &[("witness", &d.witness), ("device", &d.device), ("finishing", &d.finishing)],
        );
        page.histogram(
            "proof_seconds",
            "Seconds from a request to its proof, waiting included; stage is always all.",
            &[("all", &d.proof)],
        );
        page.0
    }
}
