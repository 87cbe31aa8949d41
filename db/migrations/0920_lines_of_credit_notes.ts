import type { Knex } from 'knex'

/**
 * The line of the invoice that a line of a credit note lowers: notes on one line add up to it and to its tax, to the cent. Null where a note names an
 * account of its own. Lines of notes that stand already find theirs by description and account, in order.
 */
export const up = async (knex: Knex) => {
  await knex.raw(`alter table credit_note_line add column receivable_line_no int`)
  // Nothing happens to a row by it.
  await knex.raw(`alter table credit_note_line disable trigger user`)
  await knex.raw(
    `with credited as (
       select l.tenant_id, l.id, n.receivable_id, l.description, l.account_id,
         row_number() over (partition by l.tenant_id, l.credit_note_id, l.description, l.account_id order by l.line_no) as place
       from credit_note_line l join credit_note n on n.tenant_id = l.tenant_id and n.id = l.credit_note_id),
     billed as (
       select tenant_id, receivable_id, line_no, description, account_id,
         row_number() over (partition by tenant_id, receivable_id, description, account_id order by line_no) as place
       from receivable_line where amount > 0)
     update credit_note_line l set receivable_line_no = b.line_no
     from credited c join billed b on b.tenant_id = c.tenant_id and b.receivable_id = c.receivable_id and b.description = c.description
       and coalesce(b.account_id, c.account_id) = c.account_id and b.place = c.place
     where l.tenant_id = c.tenant_id and l.id = c.id`,
  )
  await knex.raw(`alter table credit_note_line enable trigger user`)
}
