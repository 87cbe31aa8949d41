/** A foreign key of tenants. */
export const refers = (column: string, table: string) =>
  `foreign key (tenant_id, ${column}) references ${table} (tenant_id, id)`

/** Version and times of a record that changes. */
export const stamps = `version int not null default 1,
     created_at timestamptz not null default now(),
     updated_at timestamptz not null default now()`

/** Who is paid: a supplier, or somebody by name and number; `payee_key` is the identity of either. */
export const payee = (table: string) => `supplier_id uuid,
     payee_name text,
     payee_document text,
     payee_key text not null,
     constraint ${table}_payee check ((supplier_id is null) = (payee_name is not null) and (supplier_id is null or payee_document is null)),
     ${refers('supplier_id', 'supplier')}`
