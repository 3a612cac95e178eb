import { AppError, ERRORS } from '../base/errors.ts'
import { type Html, html } from './html.ts'
import { sentenceOf } from './problems.ts'

/** What was wrong with a form: the sentence stands beside its field, which refers to it. A page has at most one. */
export type FieldProblem = {
  /** The name of the field; undefined: it is about no single one, and stands above the form. */
  readonly field: string | undefined
  readonly words: string
}

/** The attributes of a field, if the problem is about it. */
export const invalid = (name: string, problem: FieldProblem | undefined): Html =>
  problem?.field === name ? html` aria-invalid="true" aria-describedby="problem"` : html``

/** The sentence beside a field, if the problem is about it. */
export const beside = (name: string, problem: FieldProblem | undefined): Html =>
  problem?.field === name ? html`<span class="problem" id="problem" role="alert">${problem.words}</span>` : html``

/** The sentence above a form, if the problem is about no single field. */
export const above = (problem: FieldProblem | undefined): Html =>
  problem !== undefined && problem.field === undefined
    ? html`<p class="problem wide" id="problem" role="alert">${problem.words}</p>`
    : html``

/** Whether what was sent can be corrected in its form: it was refused for its content or its size. */
export const isCorrectable = (error: unknown): error is AppError =>
  error instanceof AppError && [400, 413, 415].includes(ERRORS[error.code].status)

/** The sentence of a problem after a word that says what did not happen: `Not saved`. */
export const refusedWords = (prefix: string, error: AppError): string => `${prefix}: ${sentenceOf(error)}`
