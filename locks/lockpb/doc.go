// Package lockpb is the gRPC side of the lock service contract, generated from lock.proto.
package lockpb
