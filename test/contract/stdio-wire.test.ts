import { openStdioWire } from './wire.js';
import { wireEnvelopeContract } from './wire-envelope.contract.js';
import { wireProcessContract } from './wire-process.contract.js';

wireEnvelopeContract('stdio', openStdioWire);
wireProcessContract('stdio', openStdioWire);
