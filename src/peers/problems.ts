import { problemsOf, quoted, shown } from '../base/problem.ts'

type Text = { text: string }

/** What is wrong with the URL of a node. */
export const originProblem = problemsOf('origin', {
  invalid: ({ text }: Text) => `${quoted(text, 100)} is not an http or https URL`,
  login: ({ text }: Text) => `${quoted(text, 100)} contains a user name or password`,
  path: ({ text }: Text) => `${quoted(text, 100)} has more than a scheme, host and port`,
})

/** What is wrong with the proof that a call came from a node. */
export const proofProblem = problemsOf('proof', {
  no_secret: () => 'this node has no --peer-secret',
  malformed: () => 'it is malformed',
  signature: ({ origin }: { origin: string }) =>
    `the signature is not valid: the secrets differ, or the call was signed for a node other than ${shown(origin)}`,
  clock: () => 'the call is too old, or the clocks of the two nodes differ by more than 60 s',
  before_start: () => 'the call was signed before this node started; repeat it',
  replay: () => 'the call was already received (replay)',
})
