import type { z } from 'zod'

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
