import type { Severity } from '../severity.ts'
import type { MachineFormat, Setup, Writer } from './names.ts'

/** Findings at or above this severity are failures, unless `--fail-on` sets another. */
export const FAIL_ON: Severity = 'high'

/** The writer of a format, loaded when it is first needed. */
export const writerOf = (format: MachineFormat, setup: Setup): Promise<Writer> => WRITERS[format](setup)

const WRITERS: Readonly<Record<MachineFormat, (setup: Setup) => Promise<Writer>>> = {
  github: async (setup) => (await import('./github.ts')).githubWriter(setup),
  junit: async (setup) => (await import('./junit.ts')).junitWriter(setup),
  sarif: async (setup) => (await import('./sarif.ts')).sarifWriter(setup),
  nagios: async (setup) => (await import('./nagios.ts')).nagiosWriter(setup),
}
