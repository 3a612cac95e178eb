import { problemsOf, shown } from '../../base/problem.ts'

/** Why the PTR records of a domain are not valid. */
export const ptrProblem = problemsOf('ptr', {
  no_address: () => 'no mail host has an address',
  /** `text` is a list of addresses. */
  missing: ({ text }: { text: string }) => `no PTR record for ${shown(text, 900)}`,
  senders_unknown: () => 'which addresses send as the domain is not known: a part of SPF could not be looked up',
  unanswered: () => 'a PTR record could not be looked up',
})
