# SPDX-License-Identifier: Apache-2.0
NAME = "beside"
