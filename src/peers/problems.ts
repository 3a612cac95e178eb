import { errorsOf } from '../base/errors.ts'
import { type Problem, problemsOf, quoted, shown } from '../base/problem.ts'

type Text = { text: string }
type Id = { id: string }
type Url = { url: string }
type Max = { max: number }

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

export const nodeError = errorsOf('nodes', {
  forbidden: {
    acts_for: ({ id, other }: Id & { other: string }) => `the node ${shown(id)} may not act for ${shown(other)}`,
    own_id: ({ id }: Id) => `${shown(id)} is the id of this node; each node needs its own`,
    own_url: ({ url }: Url) => `${shown(url)} is the URL of this node`,
    id_taken: ({ id }: Id) => `the id ${shown(id)} belongs to a live node at another URL`,
    url_taken: ({ url }: Url) => `${shown(url)} belongs to a live node with another id`,
  },
  invalid_parameter: {
    not_registered: ({ id }: Id) => `the node ${shown(id)} is not registered`,
    not_https: ({ url }: Url) =>
      `${shown(url)} is not HTTPS; the operator of this node can allow it with --allow-network`,
    private_url: ({ host }: { host: string }) =>
      `${shown(host)} has private or reserved addresses; the operator of this node can allow it with --allow-network`,
    this_machine: ({ host }: { host: string }) =>
      `${shown(host)} is this machine; the operator of this node can allow it with --allow-network`,
  },
  not_found: { unknown: ({ id }: Id) => `the node ${shown(id)} is not registered; register it first` },
  upstream_unavailable: {
    no_answer: ({ id }: Id) => `the node ${shown(id)} did not answer; the log has the reason`,
    not_verified: ({ id, why }: Id & { why: Problem }, say) => `the node ${shown(id)} did not verify: ${say(why)}`,
  },
  overloaded: {
    crowded: ({ max, host }: Max & { host: string }) => `the limit of ${max} nodes at ${shown(host)} is reached`,
    full: ({ max }: Max) => `the limit of ${max} nodes is reached`,
  },
})
