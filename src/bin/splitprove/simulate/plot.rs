//! Memory over time, as a picture.

use plotters::prelude::*;
use splitprove::error::{Error, Result};

use super::machine::Machine;
use super::run::Policy;
use super::{name, Row};

const SIZE: (u32, u32) = (960, 600);
const GIB: f64 = (1u64 << 30) as f64;

/// Columns of the picture that the lines' points are thinned to: of each the highest stays.
const COLUMNS: u64 = 400;

/// Draws the policies' memory, the budget, and what is reported.
pub fn memory(machine: &Machine, rows: &[Row]) -> Result<String> {
    let mut svg = String::new();
    draw(machine, rows, &mut svg).map_err(|e| Error::internal(format!("the picture cannot be drawn: {e}")))?;
    Ok(svg)
}

fn colour(policy: Policy) -> RGBColor {
    match policy {
        Policy::Ours => RGBColor(0, 114, 178),
        Policy::Unbounded => RGBColor(120, 120, 120),
        Policy::Rival(super::Rule::AtEndOfSynthesis) => RGBColor(213, 94, 0),
        Policy::Rival(super::Rule::QueueOfOne) => RGBColor(0, 158, 115),
    }
}

fn draw(machine: &Machine, rows: &[Row], svg: &mut String) -> std::result::Result<(), Box<dyn std::error::Error>> {
    // The unbounded scheduler is there for its throughput, and its line hides under ours.
    let rows: Vec<&Row> = rows.iter().filter(|r| r.policy != Policy::Unbounded).collect();
    let end = rows.iter().map(|r| r.outcome.end_ns).max().unwrap_or(1);
    let reported = |r: &&Row| r.reported.and_then(|r| r.gib).map_or(0.0, f64::from);
    let most = rows.iter().map(|r| (r.outcome.peak_bytes as f64 / GIB).max(reported(r))).fold(0.0, f64::max);
    let top = most.max(machine.budget as f64 / GIB) * 1.08;
    let seconds = end as f64 / 1e9;

    let root = SVGBackend::with_string(svg, SIZE).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption("Memory over time, simulated", ("sans-serif", 24))
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(0.0..seconds, 0.0..top)?;
    chart
        .configure_mesh()
        .x_desc("seconds")
        .y_desc("GiB")
        .x_label_formatter(&|s| format!("{s:.0}"))
        .y_label_formatter(&|gib| format!("{gib:.0}"))
        .max_light_lines(1)
        .label_style(("sans-serif", 17))
        .axis_desc_style(("sans-serif", 19))
        .draw()?;
    for row in &rows {
        let colour = colour(row.policy);
        chart
            .draw_series(LineSeries::new(thinned(&row.outcome.trace, end), colour.stroke_width(2)))?
            .label(name(row.policy))
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], colour.stroke_width(2)));
    }
    let mut level = |gib: f64, label: String, colour: RGBColor| {
        let dashes = DashedLineSeries::new([(0.0, gib), (seconds, gib)], 10, 6, colour.stroke_width(1));
        chart.draw_series(dashes).map(|drawn| {
            drawn
                .label(label)
                .legend(move |(x, y)| PathElement::new([(x, y), (x + 24, y)], colour.mix(0.6).stroke_width(1)));
        })
    };
    let budget = machine.budget as f64 / GIB;
    let ours = rows.iter().find(|r| r.policy == Policy::Ours).and_then(|r| r.reported);
    let ours = ours.map_or(String::new(), |r| format!(" (reported: {})", r.text));
    level(budget, format!("budget of ours, {budget:.0} GiB{ours}"), colour(Policy::Ours))?;
    for row in rows.iter().filter(|r| r.policy != Policy::Ours) {
        if let Some((r, gib)) = row.reported.and_then(|r| r.gib.map(|gib| (r, gib))) {
            level(gib.into(), format!("{} reported: {}", name(row.policy), r.text), colour(row.policy))?;
        }
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::LowerMiddle)
        .legend_area_size(32)
        .label_font(("sans-serif", 16))
        .background_style(WHITE.mix(0.85))
        .border_style(RGBColor(200, 200, 200))
        .draw()?;
    root.present()?;
    Ok(())
}

/// The trace as steps, with the highest of each column; memory is 0 before and stays as it is after.
fn thinned(trace: &[(u64, u64)], end: u64) -> Vec<(f64, f64)> {
    let column = (end / COLUMNS).max(1);
    let mut points: Vec<(f64, f64)> = Vec::new();
    let mut i = 0;
    let mut bytes = 0;
    let mut at = 0;
    while at <= end {
        let mut most = bytes;
        while i < trace.len() && trace[i].0 < at + column {
            bytes = trace[i].1;
            most = most.max(bytes);
            i += 1;
        }
        points.push((at as f64 / 1e9, most as f64 / GIB));
        at += column;
    }
    points
}
