import { type Problem, problemWith } from '../../src/base/problem.ts'

/** A problem with any sentence. */
export const labProblem = (text: string): Problem => problemWith('lab', () => text, undefined)
