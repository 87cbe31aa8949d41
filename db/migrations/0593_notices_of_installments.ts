import type { Knex } from 'knex'

/**
 * A notice names an installment of its document, which cannot be without the document: the second reference proved nothing more. It cost each notice of a run
 * a look at the documents, and a lock of its own.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table dunning_notice drop constraint dunning_notice_tenant_id_receivable_id_fkey`)
}
