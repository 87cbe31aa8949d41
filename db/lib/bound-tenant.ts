/**
 * The tenant of the transaction, as SQL. Reads of tables that the platform shares (`tenant` and others) name it: their policy is a choice of tenant or platform,
 * which no index serves, so that a read without it visits the rows of every tenant.
 */
export const boundTenant = `nullif(current_setting('app.tenant_id', true), '')::uuid`
