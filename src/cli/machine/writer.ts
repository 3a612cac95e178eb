import type { Severity } from '../severity.ts'
import type { MachineFormat, Setup, Writer } from './names.ts'

/** The severity from which on findings are failures where `--fail-on` does not say so. */
export const FAIL_ON: Severity = 'high'

/** The writer of a format, loaded at the first need. */
export const writerOf = (format: MachineFormat, setup: Setup): Promise<Writer> => WRITERS[format](setup)

const WRITERS: Readonly<Record<MachineFormat, (setup: Setup) => Promise<Writer>>> = {
  github: async (setup) => (await import('./github.ts')).githubWriter(setup),
  junit: async (setup) => (await import('./junit.ts')).junitWriter(setup),
  sarif: async (setup) => (await import('./sarif.ts')).sarifWriter(setup),
  nagios: async (setup) => (await import('./nagios.ts')).nagiosWriter(setup),
}
