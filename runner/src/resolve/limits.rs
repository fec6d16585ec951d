//! Effective limits: the smallest of profile, tool.toml and flags.

use super::Tighten;
use crate::call::{Limits, Note};
use crate::envelope::WarningCode;
use crate::human;
use crate::limits_spec::LimitsSpec;

/// The window in which a process that outlives the tool may still end by itself.
const LEAK_WINDOW_MS: u64 = 200;

/// The effective limits, with a note for everything that was asked for and cut.
pub fn effective(profile: &LimitsSpec, tool: &LimitsSpec, flags: &Tighten) -> (Limits, Vec<Note>) {
    let mut cut = Cut { notes: Vec::new() };
    let ms = |value: Option<crate::units::Millis>| value.map(|millis| millis.0);
    let size = |value: Option<crate::units::Size>| value.map(|size| size.0);
    let memory = cut.least("memory", human::bytes, size(profile.memory), [size(tool.memory), size(flags.memory)]);
    let cpu_max = profile.cpu.unwrap_or(1.0);
    let cpu_granted = tool.cpu.map_or(cpu_max, |cpu| cpu.min(cpu_max));
    let cpu = flags.cpu.map_or(cpu_granted, |cpu| cpu.min(cpu_granted));
    let cpu_cut = [tool.cpu.filter(|cpu| *cpu > cpu_max), flags.cpu.filter(|cpu| *cpu > cpu_granted)];
    for asked in cpu_cut.into_iter().flatten() {
        cut.note("cpu", &asked.to_string(), &cpu.to_string());
    }
    let tmp_asked = cut.least("tmp", human::bytes, size(profile.tmp), [size(tool.tmp), None]);
    // Pages of the scratch tmpfs are charged to the tool: a full one must leave it room to run.
    // At least a page: a tmpfs of size 0 has no limit at all.
    let tmp = tmp_asked.min(memory / 2).max(4096);
    if tmp < tmp_asked && tool.tmp.is_some() {
        cut.note("tmp", &human::bytes(tmp_asked), &format!("{}, half of memory", human::bytes(tmp)));
    }
    let limits = Limits {
        wall_ms: cut.least("wall", human::millis, ms(profile.wall), [ms(tool.wall), ms(flags.wall)]),
        grace_ms: cut.least("grace", human::millis, ms(profile.grace), [ms(tool.grace), None]),
        leak_window_ms: LEAK_WINDOW_MS,
        memory,
        cpu,
        pids: cut.least("pids", plain, profile.pids, [tool.pids, flags.pids]),
        open_files: cut.least("open_files", plain, profile.open_files, [tool.open_files, None]),
        file_size: cut.least("file_size", human::bytes, size(profile.file_size), [size(tool.file_size), None]),
        tmp,
        tmp_inodes: cut.least("tmp_inodes", plain, profile.tmp_inodes, [tool.tmp_inodes, None]),
        stdout: cut.least("stdout", human::bytes, size(profile.stdout), [size(tool.stdout), None]),
        stderr: cut.least("stderr", human::bytes, size(profile.stderr), [size(tool.stderr), None]),
        out: cut.least("out", human::bytes, size(profile.out), [size(tool.out), None]),
    };
    (limits, cut.notes)
}

/// Tightens limits that have been resolved before.
pub fn tighten(limits: &mut Limits, flags: &Tighten) {
    limits.wall_ms = flags.wall.map_or(limits.wall_ms, |wall| wall.0.min(limits.wall_ms));
    limits.memory = flags.memory.map_or(limits.memory, |memory| memory.0.min(limits.memory));
    limits.pids = flags.pids.map_or(limits.pids, |pids| pids.min(limits.pids));
    limits.cpu = flags.cpu.map_or(limits.cpu, |cpu| cpu.min(limits.cpu));
    limits.tmp = limits.tmp.min(limits.memory / 2).max(4096);
}

fn plain(value: u64) -> String {
    value.to_string()
}

struct Cut {
    notes: Vec<Note>,
}

impl Cut {
    fn least(&mut self, name: &str, show: fn(u64) -> String, max: Option<u64>, asked: [Option<u64>; 2]) -> u64 {
        let max = max.unwrap_or(u64::MAX);
        let [tool, flag] = asked;
        let granted = tool.map_or(max, |tool| tool.min(max));
        let least = flag.map_or(granted, |flag| flag.min(granted));
        let cut = [tool.filter(|tool| *tool > max), flag.filter(|flag| *flag > granted)];
        for one in cut.into_iter().flatten() {
            self.note(name, &show(one), &show(least));
        }
        least
    }

    fn note(&mut self, name: &str, asked: &str, got: &str) {
        let message = format!("{name}: {asked} was asked for, {got} is allowed");
        self.notes.push(Note { code: WarningCode::LimitClamped, message });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{Millis, Size};

    fn profile() -> LimitsSpec {
        LimitsSpec {
            wall: Some(Millis(30_000)),
            memory: Some(Size(1 << 30)),
            cpu: Some(1.0),
            pids: Some(10),
            tmp: Some(Size(256 << 20)),
            ..LimitsSpec::default()
        }
    }

    #[test]
    fn the_smallest_wins_and_only_what_was_cut_is_noted() {
        let tool = LimitsSpec { wall: Some(Millis(5_000)), pids: Some(99), ..LimitsSpec::default() };
        let flags = Tighten { wall: Some(Millis(60_000)), memory: Some(Size(1 << 20)), ..Tighten::default() };
        let (limits, notes) = effective(&profile(), &tool, &flags);
        assert_eq!((limits.wall_ms, limits.memory, limits.pids), (5_000, 1 << 20, 10));
        let texts: Vec<&str> = notes.iter().map(|note| note.message.as_str()).collect();
        assert_eq!(texts.len(), 2, "{texts:?}");
        assert!(
            texts.iter().any(|text| text.starts_with("wall: "))
                && texts.iter().any(|text| text.starts_with("pids: 99"))
        );
    }

    #[test]
    fn tmp_is_never_more_than_half_of_memory() {
        let flags = Tighten { memory: Some(Size(64 << 20)), ..Tighten::default() };
        let (limits, notes) = effective(&profile(), &LimitsSpec::default(), &flags);
        assert_eq!(limits.tmp, 32 << 20);
        assert!(notes.is_empty());
    }
}
