import { channelDrivers } from './channels.ts'

/** Providers that jobs call through a gate. A provider is the first part of the name of an account's gate. */
export const providers: readonly string[] = [
  'sandbox',
  'sandbox_pix',
  'bcb_pix',
  'stripe',
  'smtp',
  'twilio',
  'webhook',
  ...channelDrivers,
]
