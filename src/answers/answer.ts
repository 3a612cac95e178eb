import { z } from 'zod'

/**
 * The value that a wire schema describes, deeply readonly. Every wire shape of the program is a strict zod schema in
 * this folder and nowhere else, and its type is inferred from it. Producers return that type, renderers take it,
 * OpenAPI is generated from the schema, and answers of other services are read with it.
 */
export type AnswerOf<S extends z.ZodType> = Frozen<z.output<S>>

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T

/** A list: one page of `data`, and the start of the next one. `next_cursor` is opaque and null on the last page. */
export const listOf = <S extends z.ZodType>(item: S) =>
  z.strictObject({
    data: z.array(item),
    has_more: z.boolean(),
    next_cursor: z.string().nullable(),
  })

/** A list with only one page. */
export const wholeList = <T>(data: readonly T[]) => ({ data, has_more: false, next_cursor: null }) as const
