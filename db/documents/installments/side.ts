/**
 * One side of what is owed. Its tables are made by `installmentTables`: `<document>_installment` and `<document>_fact` stand beside `<document>`, and the sums
 * of an installment stand on the document, too.
 */
export type Side = {
  document: 'receivable' | 'payable'
  /** Columns of installments and documents that lower what is open; as fields. */
  sums: readonly ('settled' | 'credited' | 'writtenOff')[]
  /** SQL: whether a document `d` counts in figures of what is owed. One that was voided later counts: a fact ends it. */
  counted: string
  /** SQL: the day from which a document `d` counts. */
  since: string
  /** SQL: who owes, or is owed, by a document `d`. */
  party: string
  /** SQL: what a statement calls a document `d`, and its number, or null. */
  named: { type: string; number: string }
  /** SQL: the number of the record behind a fact `f`, or null. */
  factNumber: string
  /** SQL: facts `f` that a statement leaves out, since something beside says them. */
  untold?: string
  /** Selects `on`, `type`, `id`, `number`, `raised` and `lowered` of what a statement says beside; `:tenantId`, `:bookId`, `:party` and `:propertyIds` are bound. */
  beside?: string
}
