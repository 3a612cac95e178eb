/** What operations are given beside the world: the rooms that keep state, made once in `main.ts`. */
export type Deps = Record<never, never>
