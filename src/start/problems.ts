import { errorsOf } from '../base/errors.ts'
import { type Problem, problemsOf, quoted, shown } from '../base/problem.ts'
import { counted } from '../base/text.ts'
import type { NotOwn } from '../store/own-file.ts'
import { NOT_OWN } from '../store/problems.ts'

type Path = { path: string }
type Reason = { reason: string }

/** What is wrong with the value of an option, seen when the program starts. */
export const startProblem = problemsOf('start', {
  unreadable: ({ path, reason }: Path & Reason) => `${shown(path)} could not be read: ${shown(reason)}`,
  invalid_file: ({ path, why }: Path & { why: Problem }, say) => `${shown(path)}: ${say(why)}`,
  same_profile: ({ path, name }: Path & { name: string }) =>
    `${shown(path)}: there is another profile with the name ${quoted(name)}`,
  needed_for: ({ flag }: { flag: string }) => `it is needed for --${shown(flag, 60)}`,
  not_opened: ({ reason }: Reason) => shown(reason),
})

export const optionError = errorsOf('options', {
  invalid_parameter: {
    key: () => '--key is the API key of a service: set --server too',
    join: () => '--join requires --node-url: the other nodes need the URL of this node',
    accept: () => 'it is for check, report and mcp. A service stores what is accepted: `mailsonde accepted create`',
    smtp_url: () => '--smtp-url requires --notify-from',
    closed_world: () => 'this world is closed; open another one',
    standard_input: () => '--file cannot be standard input, because it is read twice',
  },
})

/** Errors of files that commands read and write. */
export const fileError = errorsOf('file', {
  invalid_parameter: {
    unreadable: ({ path, reason }: Path & Reason) => `${shown(path)} cannot be read: ${shown(reason)}`,
    exists: ({ path }: Path) => `${shown(path)} already exists: choose another file`,
    results_exist: ({ path }: Path) => `${shown(path)} already exists: remove it, or choose another file`,
    not_own: ({ path, why }: Path & { why: NotOwn }) =>
      `${shown(path)} is not used: ${NOT_OWN[why]}. Choose a folder that only you can write`,
    other_list: ({ path }: Path) =>
      `${shown(path)} belongs to another list, or the list has changed: remove it to start over`,
  },
  payload_too_large: {
    too_large: ({ path, max }: Path & { max: number }) => `${shown(path)} is larger than ${max} bytes`,
  },
})

export const keyError = errorsOf('key', {
  invalid_parameter: {
    unusable: ({ why }: { why: Problem }, say) => say(why),
    not_stored: ({ why }: { why: Problem }, say) => `the keys could not be stored: ${say(why)}`,
    unknown: ({ id }: { id: string }) => `no key has the id ${quoted(id)}; \`mailsonde keys list\` shows all ids`,
    reset: () => '`keys reset` removes all keys; callers on this machine then need none. Confirm with --open',
  },
})

const NOT_LISTENING = {
  EADDRINUSE: 'another program uses it; stop that program, or choose another one (--port, --listen)',
  ENOENT: 'its folder does not exist',
  EACCES: 'permission denied (ports below 1024 require privileges), or a socket in a folder that does not exist',
  EADDRNOTAVAIL: 'this machine does not have that address',
  ENOTFOUND: 'unknown host',
  EAI_AGAIN: 'the host could not be looked up',
} as const

/** An error code of `listen` or `getaddrinfo` that has a sentence. */
type NotListening = keyof typeof NOT_LISTENING
export const isNotListening = (code: string): code is NotListening => Object.hasOwn(NOT_LISTENING, code)

/** Errors of starting the service, and of the database commands. */
export const serviceStartError = errorsOf('service_start', {
  invalid_parameter: {
    listen: ({ place, code }: { place: string; code: NotListening }) =>
      `could not listen on ${shown(place)}: ${NOT_LISTENING[code]}`,
    no_node: ({ path }: Path) => `${shown(path)} has no node id: no service has used this folder`,
    no_database: ({ path }: Path) => `${shown(path)} has no private database yet: the first job creates it`,
  },
  upstream_unavailable: {
    no_answer: ({ place, reason }: { place: string } & Reason) => `${shown(place)} does not answer: ${shown(reason)}`,
  },
})

/** Lines on standard error about the work on a list file. */
export const listNotice = problemsOf('list_notice', {
  resuming: ({ count }: { count: number }) => `resuming: ${counted(count, 'answer exists', 'answers exist')} already`,
  stopped: ({ count, path }: { count: number } & Path) =>
    `stopped: ${counted(count, 'answer is', 'answers are')} in ${shown(path)}; repeat the command to resume`,
  done: ({ path, count }: Path & { count: number }) => `${shown(path)}: ${counted(count, 'row')}`,
  done_in_part: ({ path, count, bad }: Path & { count: number; bad: number }) =>
    `${shown(path)}: ${counted(count, 'row')}; ${bad} could not be read or ${bad === 1 ? 'has' : 'have'} no address`,
  fault: ({ reason }: { reason: string }) =>
    `an internal error at a row, which is tried again later: ${shown(reason, 500)}`,
  bad_row: ({ line, detail }: { line: number; detail: string }) => `line ${line}: ${shown(detail)}`,
  answers: ({ count, rows }: { count: number; rows: number }) =>
    `${counted(count, 'answer')}; ${counted(rows, 'row')} read`,
  /** `time` as 12:34:56. */
  answers_waiting: ({ count, rows, waiting, time }: { count: number; rows: number; waiting: number; time: string }) =>
    `${counted(count, 'answer')}; ${counted(rows, 'row')} read; ${counted(waiting, 'waits', 'wait')} for a retry, the next at ${shown(time, 20)} UTC`,
})
