import { errorsOf } from '../base/errors.ts'
import { type Problem, problemsOf, quoted, shown } from '../base/problem.ts'
import { didYouMean } from '../base/value-problems.ts'

type Flags = { flag: string; other: string }
type Origin = { origin: string }
/** An unknown word, the known ones, and the one that was probably meant. */
type Word = { text: string; known: readonly string[]; meant: string | undefined }

/** What is wrong with the value of a flag. */
export const flagProblem = problemsOf('flag', {
  choice: ({ text, known, meant }: Word) => `${quoted(text)} is not one of ${known.join(', ')}${didYouMean(meant)}`,
  format: ({ text, known, meant }: Word) =>
    `${quoted(text)} is not one of ${known.join(', ')} here${didYouMean(meant)}`,
  too_many_fields: ({ max }: { max: number }) => `more than ${max} fields`,
  field: ({ text, known, meant, where }: Word & { where: string }) =>
    `${quoted(text)} is not a field of ${where === '' ? 'the answer' : shown(where, 100)}${didYouMean(meant)}; ${known.length === 0 ? 'it has no fields' : `its fields are ${known.join(', ')}`}`,
})

export const commandError = errorsOf('command', {
  invalid_parameter: {
    exclusive: ({ flag, other }: Flags) => `--${shown(flag, 60)} cannot be used with --${shown(other, 60)}`,
    requires: ({ flag, other }: Flags) => `--${shown(flag, 60)} requires --${shown(other, 60)}`,
  },
  missing_parameter: {
    out: () => '--file requires --out, a file for the results',
    no_targets: () => 'standard input has no targets: give one per line',
  },
  payload_too_large: {
    targets: ({ max }: { max: number }) => `more than ${max} targets: one document can have at most ${max}`,
  },
})

/** Errors of the service that the command line calls. */
export const serviceError = errorsOf('service', {
  invalid_parameter: {
    url: ({ text }: { text: string }) => `${quoted(text)} is not a URL`,
    login: () => 'the URL contains a user name or a password: give the API key in MAILSONDE_KEY instead',
    scheme: ({ text }: { text: string }) => `${quoted(text)} does not begin with http:// or https://`,
  },
  upstream_unavailable: {
    redirect: ({ origin, location }: Origin & { location: string }) =>
      `${shown(origin)} redirects to ${shown(location)}; set --server to the URL of the service itself`,
    no_problem: ({ origin, status }: Origin & { status: number }) =>
      `${shown(origin)} returned status ${status} without a problem document; is it the URL of a mailsonde service?`,
    unreachable: ({ origin, reason }: Origin & { reason: string }) =>
      `${shown(origin)} could not be reached: ${shown(reason)}`,
    broken_off: ({ origin, reason }: Origin & { reason: string }) =>
      `${shown(origin)} closed the connection before the end of its answer: ${shown(reason)}`,
    empty: ({ origin, status }: Origin & { status: number }) =>
      `${shown(origin)} returned status ${status} without content; is it the URL of a mailsonde service?`,
    web_page: ({ origin, status }: Origin & { status: number }) =>
      `${shown(origin)} returned status ${status} with a web page; is it the URL of a mailsonde service?`,
    too_long: ({ origin }: Origin) => `${shown(origin)} sent an answer that is too long`,
    schema: ({ origin, name, why }: Origin & { name: string; why: Problem }, say) =>
      `the answer of ${shown(origin)} does not match the schema of ${shown(name, 60)}; it may run another version: ${say(why)}`,
    not_json: ({ origin }: Origin) => `the answer of ${shown(origin)} is not JSON`,
    no_object: ({ origin }: Origin) => `the answer of ${shown(origin)} is not a JSON object`,
    no_tls: ({ origin }: Origin) =>
      `${shown(origin)} could not be reached: it does not use TLS; try http:// instead of https://`,
  },
  timeout: { late: ({ origin }: Origin) => `${shown(origin)} did not respond in time` },
})

/** The error of a service in its own words. */
export const toldProblem = problemsOf('told', {
  detail: ({ detail }: { detail: string }) => shown(detail, 1_000),
  key: ({ detail }: { detail: string }) =>
    `the service asks for a key, by --key or in MAILSONDE_KEY: ${shown(detail, 1_000)}`,
  status: ({ origin, status }: Origin & { status: number }) => `${shown(origin)} returned status ${status}`,
})

/** Hints on standard error after an error. For a target, the id is the command to use. */
export const hint = problemsOf('hint', {
  blacklist: ({ text }: { text: string }) => `to look up an address: mailsonde blacklist ${shown(text)}`,
  verify: ({ text }: { text: string }) => `to verify an address: mailsonde verify ${shown(text)}`,
  missing: ({ flag }: { flag: string }) => `give it by --${shown(flag, 60)}`,
  check: ({ text }: { text: string }) => `to check a domain: mailsonde check ${shown(text)}`,
  serve: ({ flag }: { flag: string }) =>
    `--${shown(flag, 60)} is an option of \`mailsonde serve\`; it has no effect on this command`,
  /** `command` shows the progress of the job. */
  job_continues: ({ command }: { command: string }) => `the job continues; to follow it: ${shown(command, 500)}`,
  job_kept: ({ command }: { command: string }) => `the job is kept; to continue it: ${shown(command, 500)}`,
})
