import { errorsOf } from './base/errors.ts'
import { problemsOf, quoted, shown } from './base/problem.ts'
import { didYouMean } from './base/value-problems.ts'

/** What is wrong with the value of an option. A value that may hold a password is not repeated. */
export const optionProblem = problemsOf('option', {
  database_url: () => 'the value is not a postgres:// URL',
  submission_url: () => 'the value is not a URL such as smtp://… or smtps://…',
  lmtp: () => 'the value is neither a host with a port, such as 127.0.0.1:2424, nor the path of a socket',
  listen: () => 'the value is not unix: with the path of a socket, at most 107 octets long',
  imap_url: () => 'the value is not a URL such as imaps://user@host/INBOX, without the password',
  kind: () => 'the value must be a string, a number, true or false',
  kinds: () => 'the value must be a string or a list of strings',
  short_secret: ({ min }: { min: number }) => `the value is shorter than ${min} characters`,
})

/** The name that was probably meant. */
type Meant = { meant: string | undefined }
type Path = { path: string }

/** Errors of the environment and of the configuration file. */
export const configError = errorsOf('config', {
  invalid_parameter: {
    variable: ({ name, meant }: { name: string } & Meant) =>
      `unknown environment variable ${shown(name, 60)}${didYouMean(meant)}; \`mailsonde config\` lists the known ones`,
    unreadable: ({ path, reason }: Path & { reason: string }) =>
      `the configuration file ${shown(path)} could not be read: ${shown(reason)}`,
    no_object: ({ path }: Path) => `the configuration file ${shown(path)} must contain one JSON object`,
    key: ({ path, name, meant }: Path & { name: string } & Meant) =>
      `the configuration file ${shown(path)} has an unknown key ${quoted(name)}${didYouMean(meant)}`,
  },
})
