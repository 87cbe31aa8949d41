/** A sealed column. `row`: the column whose value the seal is bound to, `id` unless said. */
export type Sealed = {
  /** Name by which the seal knows the column. */
  purpose: string
  /** Sealed by a key of the guest whom this column names, not by the tenant's. */
  guest?: { column: string; key: 'profile' | 'retention' }
  row?: string
  /** A file: the column names a blob, whose bytes are sealed. */
  file?: true
}

/** One table with rows of tenants: what becomes of them in an export, and when the tenant is deleted. */
export type TenantTable = {
  table: string
  /** Why it is not exported. Without it all rows are, with their sealed columns opened. */
  leave?: string
  /** Why its rows stay when the tenant is deleted. Without it all go. */
  keep?: string
  open?: Readonly<Record<string, Sealed>>
  /** Why its rows stay where they are when the tenant moves to another installation. Without it all go along. */
  stay?: string
}

/** Tables that are exported and deleted, and have nothing sealed. */
export const rows = (...tables: readonly string[]): TenantTable[] => tables.map((table) => ({ table }))

/** A table with sealed columns, which an export opens. */
export const sealed = (table: string, open: Readonly<Record<string, Sealed>>): TenantTable => ({ table, open })

/** A table that is deleted, and of which an export says nothing: the reason. */
export const inner = (leave: string, ...tables: readonly string[]): TenantTable[] =>
  tables.map((table) => ({ table, leave }))

/** Says of tables why their rows stay when the tenant moves to another installation. */
export const staying = (stay: string, tables: readonly TenantTable[]): TenantTable[] =>
  tables.map((entry) => ({ ...entry, stay }))
