import { model } from '../lib/models.ts'

export const Payment = model('payment')
export const Refund = model('refund')
export const GatewayCallback = model('gateway_callback', 'id')
