import { expect } from 'chai'
import { personalData } from '../../config/personal-data.ts'
import { sql } from '../../db/lib/connection.ts'
import { useDatabase } from '../support/database.ts'

const of = (why: string, columns: string): Readonly<Record<string, string>> =>
  Object.fromEntries(columns.split(' ').map((column) => [column, why]))

/** Columns whose names or types tell of persons, and which hold nothing personal. */
const impersonal: Readonly<Record<string, string>> = {
  'guest_key.wrapped_key': 'a key, itself sealed',
  'tenant_key.wrapped_key': 'a key, itself sealed',
  'tenant_move.index_key': 'a key, itself sealed',
  'tenant_move.receipt_hash': 'the hash of a secret',
  'tenant_ticket.private_key': 'a key, itself sealed',
  'tenant_ticket.public_key': 'a key that is no secret',
  'amendment.hash': 'the hash of a proposal',
  'api_key.hash': 'the hash of a secret',
  'audit_entry.previous_hash': 'the chain of the trail',
  'audit_entry.hash': 'the chain of the trail',
  'journal_seal.previous_hash': 'the chain of the ledger',
  'journal_seal.hash': 'the chain of the ledger',
  'kept_reply.request_hash': 'the hash of a request',
  'external_call.request_hash': 'the hash of a request',
  'gateway_callback.body_hash': 'the hash of a callback',
  'recovery_code.code_hash': 'the hash of a secret',
  'session.current_jti_hash': 'the hash of a token',
  'session.previous_jti_hash': 'the hash of a token',
  'channel_connection.credentials': 'a secret of the house',
  'message_channel.credentials': 'a secret of the house',
  'message_channel.callback_hash': 'the hash of a secret',
  'registration_secret.sealed': 'a secret of the house',
  'gateway_account.onboarding_url': 'a link of the house at its gateway',
  'audit_chain.hash': 'the chain of the trail',
  'subscription.card_token': 'a secret of the house at its gateway',
  'invoice_payment.submission': 'a secret of the house at its gateway',
  'tenant_export_part.bytes': 'an export, which expires after 7 days',
  'cash_account.holder': 'the holder of an account of the house',
  'cash_movement.counterparty': 'the other party of money, kept with the books',
  'cash_transfer.payee': 'whom the house pays, kept with the books',
  'pix_connection.credentials': 'a secret of the house',
  'pix_connection.hook': 'a secret of the house',
  'pix_connection.hook_hash': 'the hash of a secret',
  'bank_statement.file_hash': 'the hash of a file',
  'bank_statement_line.fingerprint_hash': 'the hash of a line',
  'webhook_endpoint.secret': 'a secret of the house',
  'webhook_endpoint.previous_secret': 'a secret of the house',
  ...of(
    'a code',
    'dispute.reason dunning_notice.skip_reason housekeeping_task.skip_reason message.reason refund.reason reservation.cancel_reason unit_block.reason job_archive.reason',
  ),
  ...of(
    'words about the books, kept with them',
    'bank_statement.reopen_reason bank_statement_line.ignore_reason cash_session.note cash_transfer.cancel_reason credit_note.reason entry_draft.note number_jump.reason payable.hold_reason payable.notes payable.void_reason payable_approval.note payable_history.reason payable_payment.note pix_return.reason posting_event.dismiss_reason purchase_order.close_reason purchase_order.notes receipt.reverse_reason receipt_refund.reason receivable.credit_override_reason receivable.notes receivable.void_reason receivable_history.reason supplier_credit.note write_off.reason write_off.reinstate_reason',
  ),
  ...of(
    'words about things of the house',
    'inventory_consumption.reason inventory_count.approval_note inventory_count.note inventory_movement.note inventory_movement.reversal_reason rate_change.note unit.notes unit_block.cancel_reason unit_block.note finance_notice.label gateway_account.label',
  ),
  ...of(
    'words about a tenant, a user or the service',
    'app_user.lock_reason billing_adjustment.reason entitlement_grant.end_reason entitlement_grant.reason plan_version.note provider_gate.reason queue_control.reason session.revoke_reason subscription_invoice.reason superuser_account.reason support_session.reason tenant.reason tenant_export.reason webhook_endpoint.paused_reason',
  ),
}

const telling =
  '(^|_)(note|notes|reason|comment|external_reference|label|first_name|last_name|preferred_name|name_search|email|phone|recipient|payer|user_agent|ip|birth|kinship|sealed|nationality|residence_country)(_|$)'
/** Names of what is no value of a person, though they have such a word. */
const harmless = /_id$|_at$|_guest_id$|^payer_(kind|type)$|_ids$/

describe('the registry of personal data', () => {
  const world = useDatabase()
  const columns = () =>
    sql<{ tableName: string; columnName: string }>(
      world.database.admin,
      `select c.relname as table_name, a.attname as column_name from pg_class c
       join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
       where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
         and (a.atttypid = 'bytea'::regtype or a.attname ~ ?) order by 1, 2`,
      [telling],
    )

  it('names every sealed column, and every column of a telling name', async () => {
    const registered = new Set(
      personalData.flatMap(({ table, columns: own }) => Object.keys(own).map((column) => `${table}.${column}`)),
    )
    const forgotten = (await columns())
      .filter(({ columnName }) => !harmless.test(columnName))
      .map(({ tableName, columnName }) => `${tableName}.${columnName}`)
      .filter((name) => !registered.has(name) && !(name in impersonal))
    expect(forgotten).to.deep.equal([])
  })

  it('names columns that are there, each table once', async () => {
    const there = new Set(
      (
        await sql<{ name: string }>(
          world.database.admin,
          `select c.relname || '.' || a.attname as name from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
           where c.relnamespace = 'public'::regnamespace`,
        )
      ).map((row) => row.name),
    )
    for (const { table, columns: own, set = {} } of personalData)
      for (const column of [...Object.keys(own), ...Object.keys(set)])
        expect(there, table).to.include(`${table}.${column}`)
    expect(new Set(personalData.map(({ table }) => table)).size).to.equal(personalData.length)
    for (const name of Object.keys(impersonal))
      if (!there.has(name)) expect.fail(`${name} is in the list, and not in the schema`)
  })

  it('says for each table what ends the time of what is not erased with its guest', () => {
    for (const { table, guests, erasure, until } of personalData) {
      expect(guests !== undefined || erasure === 'elsewhere', table).to.equal(true)
      if (erasure === 'keep until' || erasure === 'elsewhere') expect(until, table).to.be.a('string')
    }
  })
})
