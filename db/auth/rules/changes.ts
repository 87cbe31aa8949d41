/** The time for which the state of a session or a key may be remembered outside of the database. */
export const keptSeconds = 600
// A change is seen by its instant, and becomes visible with its commit, which may be that much later.
export const overlapSeconds = 15

/** Records that changed since the last look, each with its present version; `at` is the database's clock. */
export type Changes = { at: Date; versions: [string, number][] }

type Row = { id: string | null; version: number | null; at: Date }

export const changesOf = (rows: Row[]): Changes => ({
  at: rows[0]?.at ?? new Date(),
  versions: rows.flatMap(({ id, version }) =>
    id !== null && version !== null ? [[id, version] as [string, number]] : [],
  ),
})
