import { problemsOf, quoted, shown } from '../../base/problem.ts'

/** What is wrong with the answer of a name server. */
export const serverAnswerProblem = problemsOf('name_server', {
  not_authoritative: () => 'its answer is not authoritative',
})

type From = { from: string }
/** The name of a server; the resolver has none. */
const by = (from: string): string => (from === '' ? 'the resolver' : shown(from, 255))

/** What a name server, or the resolver, says about a record. */
export const serverSaysProblem = problemsOf('name_server_says', {
  text: ({ from, text }: From & { text: string }) => `${by(from)} says ${quoted(text, 200)}`,
  nothing: ({ from, record }: From & { record: string }) =>
    `${by(from)} has no ${shown(record.toUpperCase(), 5)} record`,
})
